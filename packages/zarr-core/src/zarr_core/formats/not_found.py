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


def no_node_message(store: Store, path: str, keys: list[str]) -> str:
    """The message about a path without a node: the missing ``keys``, and what exists instead."""
    prefix = f"{path}/" if path else ""
    message = f"no Zarr array or group here (looked for {', '.join(dict.fromkeys(keys))})"
    root = metadata_key("")
    for name in DETECTION_ORDER:
        install = (
            ""
            if is_provided("format", name)
            else f", which is not installed: pip install {requirement('format', name)}"
        )
        if install and root in METADATA_KEYS[name] and _has_version_uri(store, root):
            return f"{message}. The hierarchy has the format {name!r} or another draft{install}"
        if METADATA_KEYS[name][0] in keys:
            continue
        for key in METADATA_KEYS[name]:
            if store.exists(prefix + key):
                advice = install or ": leave out zarr_format to open it"
                return f"{message}. The key {prefix + key!r} belongs to the format {name!r}{advice}"
    return (
        f"{message}. {_instead(store, prefix)}. Use create_array or create_group to create a node"
    )


def _has_version_uri(store: Store, key: str) -> bool:
    try:
        data = read_metadata(store, key)
        return data is not None and has_version_uri(strictjson.loads(data))
    except ZarrError:
        return False


def _instead(store: Store, prefix: str) -> str:
    """Describe the keys below a prefix; no final period."""
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
    count = f"{len(found)} other {'keys or prefixes' if len(found) > 1 else 'key or prefix'}"
    return f"Check the path: {count} here, such as {found[0][len(prefix) :]!r}"
