"""The message about a path without a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import StoreError, ZarrError
from zarr_core.formats.v3 import has_version_uri, metadata_key
from zarr_core.interfaces.metadata_document import read_metadata
from zarr_core.registry.extension_names import is_provided
from zarr_core.registry.hints import requirement
from zarr_core.registry.known_extensions import DETECTION_ORDER, METADATA_KEYS

if TYPE_CHECKING:
    from zarr_core.interfaces.store import Store

_SUFFIXES = {
    ".h5": "HDF5 files are not Zarr: import them with zarr-import, or read them with h5py",
    ".hdf5": "HDF5 files are not Zarr: import them with zarr-import, or read them with h5py",
    ".nc": "NetCDF files are not Zarr: import them with zarr-import, or read them with xarray",
    ".zip": "an archive is opened by its own path, with its suffix .zip",
    ".zarr": "a hierarchy is opened by its own path",
}


def no_node_message(store: Store, path: str, keys: list[str]) -> str:
    """The message about a path without a node: the missing ``keys``, and what exists instead."""
    prefix = f"{path}/" if path else ""
    looked = f"no Zarr array or group here (looked for {', '.join(dict.fromkeys(keys))})"
    missing = [name for name in DETECTION_ORDER if not is_provided("format", name)]
    for name in missing:
        for key in METADATA_KEYS[name]:
            if key not in keys and store.exists(prefix + key):
                return (
                    f"{looked}. The key {prefix + key!r} belongs to the format {name!r}, which is "
                    f"not installed: pip install {requirement('format', name)}"
                )
    root = metadata_key("")
    drafts = [name for name in missing if root in METADATA_KEYS[name]]
    if drafts and _has_version_uri(store, root):
        return (
            f"{looked}. The hierarchy has the format {' or '.join(map(repr, drafts))}, which is "
            f"not installed: pip install {requirement('format', drafts[0])}"
        )
    create = "Use create_array or create_group to create a node"
    return f"{looked}. {_instead(store, prefix, keys)}. {create}"


def _has_version_uri(store: Store, key: str) -> bool:
    try:
        data = read_metadata(store, key)
        return data is not None and has_version_uri(strictjson.loads(data))
    except ZarrError:
        return False


def _instead(store: Store, prefix: str, looked_for: list[str]) -> str:
    """What exists below a prefix, as a sentence without its full stop."""
    if not prefix and store.url.lower().endswith((".json", ".parq")):
        return f"Open references as reference+{store.url}"
    if not store.supports_listing:
        return "Check the path; the store cannot list its keys"
    try:
        keys, prefixes = store.list_dir(prefix)
    except StoreError:
        return "Check the path"
    found = sorted([*keys, *prefixes])
    if not found:
        return "Nothing is stored here: check the path"
    for name in DETECTION_ORDER:
        first, *others = METADATA_KEYS[name]
        if first not in looked_for and (
            here := {prefix + key for key in (first, *others)} & {*found}
        ):
            return (
                f"The key {min(here)!r} belongs to the format {name!r}: leave out zarr_format to "
                "open it"
            )
    count = f"{len(found)} other {'keys or prefixes' if len(found) > 1 else 'key or prefix'}"
    said = f"Check the path: {count} here, such as {found[0][len(prefix) :]!r}"
    for suffix, advice in _SUFFIXES.items():
        if any(name.rstrip("/").endswith(suffix) for name in found):
            return f"{said} ({advice})"
    return said
