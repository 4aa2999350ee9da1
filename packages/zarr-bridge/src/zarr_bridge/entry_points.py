"""What zarr-python would find by its entry points, listed without importing any of it.

Groups: ``zarr.codecs``; ``zarr.codecs.<name>`` for several classes of one codec;
``zarr.data_type``; ``zarr.chunk_key_encoding``.  The name of the entry point is taken
for the name in metadata, as zarr-python takes it for codecs, key encodings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import Provider

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
    from importlib.metadata import distributions  # noqa: PLC0415 - lazy: few need it

    seen: set[str] = set()
    for distribution in distributions():
        if "zarr." not in (distribution.read_text("entry_points.txt") or ""):
            continue
        # An earlier directory of sys.path hides the same distribution in a later one.
        if distribution.name in seen:
            continue
        seen.add(distribution.name)
        for point in distribution.entry_points:
            group, name = point.group, point.name
            if group.startswith(_MANY_CODECS):
                group, name = "zarr.codecs", group.removeprefix(_MANY_CODECS)
            if group in _ADAPTERS:
                kind, adapter = _ADAPTERS[group]
                who = distribution.name, distribution.version
                yield Provider(kind, name, point.value, *who, adapter)
