"""Bridge ``acme-encodings``: encodings of Python from bytes to text, as codecs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import Provider

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("base64", "hex")


def providers() -> Iterator[Provider]:
    """Return the providers without importing code; called for names without an entry point."""
    for name in _NAMES:
        yield Provider(
            extension_point="codec",
            name=f"python.{name}",
            target=f"encodings.{name}_codec:getregentry",
            distribution="acme-encodings",
            adapter="acme_encodings.adapter:codec_of",
        )
