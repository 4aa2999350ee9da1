"""What to say of a place where no node was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import StoreError, ZarrError
from zarr_core.formats.v3 import is_draft
from zarr_core.registry.listing import names

if TYPE_CHECKING:
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
_SUFFIXES = {
    ".h5": "HDF5 files are no Zarr: read them with h5py, or as references with kerchunk",
    ".hdf5": "HDF5 files are no Zarr: read them with h5py, or as references with kerchunk",
    ".nc": "netCDF files are no Zarr: read them with xarray, or as references with kerchunk",
    ".zip": "an archive is opened by its own path, with its suffix .zip",
    ".zarr": "a hierarchy is opened by its own path",
}


def nothing_here(store: Store, path: str, marks: list[str]) -> str:
    """Say that there is no node, what was looked for, and what is there instead.

    Parameters
    ----------
    store, path
        The place.
    marks : list of str
        Names of the keys that were looked for.
    """
    prefix = f"{path}/" if path else ""
    looked = f"no Zarr array or group here (looked for {', '.join(dict.fromkeys(marks))})"
    for mark, meaning in _FOREIGN.items():
        if mark not in marks and store.exists(prefix + mark):
            return (
                f"{looked}. The key {prefix + mark!r} looks like {meaning}: "
                "pip install zarr-formats"
            )
    if "draft" not in names("format") and _has_draft(store):
        return (
            f"{looked}. The hierarchy is one of the drafts of version 3 of 2021 or 2022: "
            "pip install zarr-formats"
        )
    create = "To create a node, say so: create_array, create_group"
    return f"{looked}. {_instead(store, prefix)}. {create}"


def _has_draft(store: Store) -> bool:
    try:
        data = store.get("zarr.json")
        return data is not None and is_draft(strictjson.loads(data))
    except ZarrError:
        return False


def _instead(store: Store, prefix: str) -> str:
    """What is there, as a sentence without its full stop."""
    if not store.supports_listing:
        return "Check the path; the store cannot list what it holds"
    try:
        keys, prefixes = store.list_dir(prefix)
    except StoreError:
        return "Check the path"
    found = sorted([*keys, *prefixes])
    if not found:
        return "Nothing is stored here: check the path"
    count = f"{len(found)} other {'things are' if len(found) > 1 else 'thing is'}"
    said = f"Check the path: {count} here, such as {found[0][len(prefix) :]!r}"
    for suffix, advice in _SUFFIXES.items():
        if any(name.rstrip("/").endswith(suffix) for name in found):
            return f"{said} ({advice})"
    return said
