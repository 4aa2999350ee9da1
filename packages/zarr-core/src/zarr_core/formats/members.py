"""Further members of a document, which a plugin understands.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zarr_core.errors import UnsupportedFieldError
from zarr_core.registry.listing import names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

T = TypeVar("T")


def understanding(parse: Callable[[Collection[str]], T]) -> T:
    """Parse a document, asking who understands further members only if it has some.

    Parameters
    ----------
    parse : callable
        Parses the document, given the names of further members that are understood.

    Raises
    ------
    UnsupportedFieldError
        If nobody understands a member that must be understood.
    """
    try:
        return parse(())
    except UnsupportedFieldError:
        known = names("extension")
        if not known:
            raise
        return parse(known)
