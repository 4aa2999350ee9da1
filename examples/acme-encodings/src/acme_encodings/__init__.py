"""Encodings of Python from bytes to text, as codecs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import Provider, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ExtensionDefinition

_NAMES = ("base64", "hex")


@hookimpl
def zarr_supply_extension(definition: ExtensionDefinition) -> list[Provider]:
    """Return the providers of a name without an entry point, without importing code."""
    return [provider for provider in zarr_list_extensions() if provider.name == definition.name]


@hookimpl
def zarr_list_extensions() -> Iterator[Provider]:
    """Yield all providers, for listings and messages."""
    for name in _NAMES:
        yield Provider(
            extension_point="codec",
            name=f"python.{name}",
            target=f"encodings.{name}_codec:getregentry",
            distribution="acme-encodings",
            adapter="acme_encodings.adapter:codec_of",
        )
