"""What zarr-python would find by its entry points, listed without importing any of it.

Groups: ``zarr.codecs``; ``zarr.codecs.<name>`` for several classes of one codec;
``zarr.data_type``; ``zarr.chunk_key_encoding``.  The name of the entry point is taken
for the name in metadata, as zarr-python takes it for codecs, key encodings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import Provider, installed_entry_points

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANY_CODECS = "zarr.codecs."
_ADAPTERS = {
    "zarr.codecs": ("codec", "zarr_bridge.codecs:adapt"),
    "zarr.data_type": ("data_type", "zarr_bridge.data_types:adapt"),
    "zarr.chunk_key_encoding": (
        "chunk_key_encoding",
        "zarr_bridge.chunk_key_encodings:adapt",
    ),
}


def providers() -> Iterator[Provider]:
    """Every extension that another distribution publishes for zarr-python."""
    for group, name, target, distribution, version in installed_entry_points("zarr."):
        if group.startswith(_MANY_CODECS):
            group, name = "zarr.codecs", group.removeprefix(_MANY_CODECS)
        if group in _ADAPTERS:
            kind, adapter = _ADAPTERS[group]
            yield Provider(kind, name, target, distribution, version, adapter)
