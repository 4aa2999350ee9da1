"""Finding out which format a node has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeNotFoundError
from zarr_core.registry.listing import names
from zarr_core.registry.resolve import find

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

# Marks of formats that other distributions read; only to say what to install.
_FOREIGN = {
    ".zarray": "a Zarr version 2 array",
    ".zgroup": "a Zarr version 2 group",
    ".zmetadata": "a Zarr version 2 hierarchy",
    "meta": "a Zarr version 1 array",
    "attributes.json": "an N5 node",
    ".zattrs": "a Zarr version 2 node",
}


def format_named(name: str | int) -> Format:
    """The format of a name (``"v3"``) or a version (``3``).

    Raises
    ------
    UnknownExtensionError
        If no distribution that provides it is installed.
    """
    found: Format = find("format", f"v{name}" if isinstance(name, int) else name)()
    return found


def read_node(
    store: Store, path: str, zarr_format: int | str | None = None
) -> tuple[Format, NodeMetadata]:
    """Read the metadata of a node, in whatever installed format it has.

    Parameters
    ----------
    store : Store
        Where to look.
    path : str
        Normalised path of the node.
    zarr_format : int or str, optional
        Look for this format only.

    Raises
    ------
    NodeNotFoundError
        If there is no node; says what was looked for, and what to install if
        there is one of a known format that nobody here reads.
    """
    marks: list[str] = []
    for candidate in ["v3"] if zarr_format is None else [zarr_format]:
        format_ = format_named(candidate)
        metadata = format_.read(store, path)
        if metadata is not None:
            return format_, metadata
        marks += format_.marks
    if zarr_format is None:
        # Only now: version 3 is found without asking what is installed.
        for name in names("format"):
            if name == "v3":
                continue
            format_ = format_named(name)
            metadata = format_.read(store, path)
            if metadata is not None:
                return format_, metadata
            marks += format_.marks
    raise NodeNotFoundError(_place(store, path), _nothing_found(store, path, marks))


def _nothing_found(store: Store, path: str, marks: list[str]) -> str:
    prefix = f"{path}/" if path else ""
    looked = f"no Zarr array or group here (looked for {', '.join(marks)})"
    for mark, meaning in _FOREIGN.items():
        if mark not in marks and store.exists(prefix + mark):
            return (
                f"{looked}. The key {prefix + mark!r} looks like {meaning}: "
                "pip install zarr-formats"
            )
    return f"{looked}. Check the path; to create a node, say so: create_array, create_group"


def _place(store: Store, path: str) -> str:
    return f"{store} {('/' + path)!r}"


