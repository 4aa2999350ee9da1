"""Formats by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, ZarrError, is_ordinary_error, reason
from zarr_core.location import NO_LOCATION
from zarr_core.registry.discovery import usable_names
from zarr_core.registry.hints import unknown_extension_error
from zarr_core.registry.overrides import cache_key
from zarr_core.registry.resolve import find_provider

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from zarr_core.interfaces.format import Format
    from zarr_core.registry.provider import Provider

_formats: Cache[Hashable, Format] = Cache(64)


def format_named(name: str | int) -> Format:
    """The format of a name (``"v3"``) or a version (``3``); UnknownExtensionError without one."""
    key = (type(name), str(name), cache_key())
    if (format_ := _formats.get(key)) is not None:
        return format_
    provider = provided_format(name)
    extension = provider.load()
    try:
        format_ = extension()
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_ordinary_error(error):
            raise
        raise provider.failure(reason(error)) from error
    return _formats.put(key, format_)


def provided_format(name: str | int) -> Provider:
    """The provider of a format."""
    if not isinstance(name, (int, str)):
        raise TypeError(f"zarr_format must be the number or the name of a format, not {name!r}")
    format_name = f"v{name}" if isinstance(name, int) else name
    provider = find_provider("format", ExtensionDefinition(format_name))
    if provider is None:
        raise unknown_extension_error("format", format_name, NO_LOCATION)
    return provider


def formats_without(name: str) -> Iterator[Format]:
    """All installed formats except one."""
    for other in usable_names("format"):
        if other != name:
            try:
                yield format_named(other)
            except ExtensionError:  # broken: no other is affected
                continue


def formats_conflicting_with(name: str) -> Iterator[Format]:
    """The installed formats that declare a conflict with a format."""
    return (other for other in formats_without(name) if name in other.conflicting_formats)
