"""Reserved names of new nodes: an error, unless the settings allow them.

Specification: v3.1, "Node names".
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import NodeNameError
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from zarr_core.interfaces.format import Format

_allowed: ContextVar[bool] = ContextVar("zarr_core_reserved_names", default=False)


@contextmanager
def allow_reserved_names() -> Iterator[None]:
    """Create nodes with reserved names, with a warning, until the end of the block.

    As ``config.set(reserved_names="warn")``, but only for the calling thread or task.
    """
    token = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(token)


def check_reserved_names(
    format_: Format, paths: Iterable[str], existing: Container[str] = ()
) -> None:
    """Raise, or warn, if the last names of the paths of new nodes are reserved.

    ``existing`` has names that are not new, such as those of the source of a copy.

    Raises
    ------
    NodeNameError
        If a name is reserved, and the settings do not allow it.
    """
    for path in paths:
        name = path.rpartition("/")[2]
        if name in existing or not format_.is_reserved(name):
            continue
        if not _allowed.get() and config.settings.reserved_names == "error":
            raise NodeNameError(
                repr(name),
                'names that begin with "__" are reserved by the specification of Zarr; choose '
                'another name, or allow them with zarr_core.config.set(reserved_names="warn")',
            )
        warn(
            f'the new node {"/" + path!r} has a name that begins with "__": the specification of '
            "Zarr reserves such names, and other libraries may ignore the node",
        )
