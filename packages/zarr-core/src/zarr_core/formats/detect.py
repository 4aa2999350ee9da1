"""Finding out which format a node has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionLoadError, NodeNotFoundError
from zarr_core.registry.listing import names
from zarr_core.registry.resolve import find

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    broken: list[str] = []
    for name in _candidates(zarr_format):
        try:
            format_ = format_named(name)
        except ExtensionLoadError as error:
            if zarr_format is not None:
                raise
            broken.append(f"The format {name!r} could not be asked: {error}")
            continue
        metadata = format_.read(store, path)
        if metadata is not None:
            return format_, metadata
        marks += format_.marks
    where = f"{store} {('/' + path)!r}"
    raise NodeNotFoundError(where, " ".join([_nothing_found(store, path, marks), *broken]))


def _candidates(zarr_format: int | str | None) -> Iterator[int | str]:
    """The formats to look for; others than version 3 only if that one is not found."""
    if zarr_format is not None:
        yield zarr_format
        return
    yield "v3"
    yield from (name for name in names("format") if name != "v3")


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
