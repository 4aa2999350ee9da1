"""Further members of a document, which a plugin understands.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zarr_core.errors import UnsupportedFieldError
from zarr_core.metadata.problem import Problem
from zarr_core.registry.hints import install_hint
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
        If nobody understands a member that must be understood; says what to install.
    """
    try:
        return parse(())
    except UnsupportedFieldError as error:
        unknown = error
    try:
        if known := names("extension"):
            return parse(known)
    except UnsupportedFieldError as error:
        unknown = error
    raise UnsupportedFieldError(unknown.where, map(_with_hint, unknown.problems))


def _with_hint(problem: Problem) -> Problem:
    name = problem.pointer[1:].replace("~1", "/").replace("~0", "~")
    return Problem(problem.pointer, f"{problem.message}. {install_hint('extension', name)}")
