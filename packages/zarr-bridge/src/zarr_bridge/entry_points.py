"""Entry points of zarr-python, listed without importing them.

Groups: ``zarr.codecs``; ``zarr.codecs.<name>`` for several classes of one codec;
``zarr.data_type``; ``zarr.chunk_key_encoding``.  The name of the entry point is the name in
metadata, as zarr-python requires for codecs and chunk key encodings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import Provider
from zarr_core.tools import installed_entry_points

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
    """Yield every extension that another distribution provides for zarr-python."""
    for group, name, target, distribution, version in installed_entry_points("zarr."):
        if group.startswith(_MANY_CODECS):
            group, name = "zarr.codecs", group.removeprefix(_MANY_CODECS)
        if group in _ADAPTERS:
            extension_point, adapter = _ADAPTERS[group]
            yield Provider(extension_point, name, target, distribution, version, adapter)
