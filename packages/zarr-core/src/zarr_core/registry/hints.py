"""Errors about unknown extensions, with similar names and the remedy."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.known_extensions import EXTENSIONS, EXTRAS
from zarr_core.messages import shorten
from zarr_core.optional import optional_function
from zarr_core.registry import hooks
from zarr_core.registry.discovery import providers, usable_names
from zarr_core.registry.extension_points import get_extension_point
from zarr_core.registry.provider import is_disabled

if TYPE_CHECKING:
    from zarr_core.location import Location
    from zarr_core.registry.provider import Provider

# Names without an entry point on purpose: the reason and the remedy.
_NOT_REGISTERED = {
    ("codec", "numcodecs.pickle"): "Reading pickled objects can execute arbitrary code and "
    "is therefore disabled. If you trust the data, enable it temporarily: "
    "from zarr_codecs.pickle import PickleCodec; "
    "zarr_core.override_extensions({'codec': {'numcodecs.pickle': PickleCodec}}).",
}


def unknown_extension_error(
    extension_point: str, name: str, location: Location
) -> UnknownExtensionError:
    """The error about an unknown extension; ValueError if the extension point is unknown."""
    from difflib import get_close_matches

    get_extension_point(extension_point)
    usable = _names_with_hooks(extension_point)
    # Comparing a long name takes much memory, and no name is similar to it.
    similar = [*_full_names(extension_point, name), *get_close_matches(name[:200], usable)]
    hint = install_hint(extension_point, name)
    return UnknownExtensionError(extension_point, name, location, dict.fromkeys(similar), hint)


def _names_with_hooks(extension_point: str) -> list[str]:
    supplied = {provider.name for provider in hooks.supplied(extension_point)}
    return sorted(supplied.union(usable_names(extension_point)))


def _full_names(extension_point: str, name: str) -> list[str]:
    """The installed names that are ``name`` behind a prefix: ``numcodecs.lz4`` for ``lz4``."""
    names = _names_with_hooks(extension_point)
    return [other for other in names if other.rpartition(".")[2] == name != other]


def install_hint(extension_point: str, name: str) -> str:
    """How to install or enable an unknown extension."""
    if reason := _NOT_REGISTERED.get((extension_point, name)):
        return reason
    no_plugins = "*" in config.settings.disabled_plugins
    offered = [] if no_plugins else _offered(extension_point, name)
    if origins := [item.origin for item in offered if is_disabled(item.distribution)]:
        return f"It is in {', '.join(origins)}, which the setting disabled_plugins disables."
    other = ""
    with suppress(ModuleNotFoundError):
        other = optional_function("advice_on_extension")(extension_point, name)
    if not other and (full := _full_names(extension_point, name)):
        return f"Use the full name {' or '.join(map(repr, full))}."
    if distribution := distribution_of(extension_point, name):
        off = " and do not disable it" if is_disabled(distribution) else ""
        hint = f"Install it{off}: pip install --upgrade {requirement(extension_point, name)}"
        if other and extension_point == "codec" and name.startswith("numcodecs."):
            hint += f". {other}"
        return hint
    if other:
        return other
    if extension_point == "format":
        # The user passes 3 for "v3".
        numbers = ((format_, format_.removeprefix("v")) for format_ in usable_names("format"))
        choices = (number if number.isdecimal() else repr(format_) for format_, number in numbers)
        return f"zarr_format must be one of {', '.join(choices)}."
    fsspec = f"If fsspec supports it, use fsspec+{name}://. " if extension_point == "store" else ""
    off = "The setting disabled_plugins disables all plugins; change it first. "
    return (
        f"{off if no_plugins else ''}{fsspec}"
        f"Install the distribution that provides it (entry-point group zarr_core.{extension_point}), or pass "
        f"its class: zarr_core.override_extensions({{'{extension_point}': {{'{shorten(name)}': ...}}}})."
    )


def _offered(extension_point: str, name: str) -> list[Provider]:
    """What distributions and hooks offer, also disabled ones."""
    offered = [*providers(extension_point, name, disabled=True), *hooks.supplied(extension_point)]
    return [item for item in offered if item.name == name]


def other_providers(extension_point: str, name: str, used: str) -> str:
    """How to select other installed distributions that provide an extension; empty without any."""
    others = dict.fromkeys(
        f"{item.distribution} also provides it; to select it: {item.setting}"
        for item in _offered(extension_point, name)
        if item.distribution != used and not is_disabled(item.distribution)
    )
    return "; ".join(others)


def requirement(extension_point: str, name: str) -> str:
    """The requirement for pip: the distribution of an extension, with its extra."""
    distribution = distribution_of(extension_point, name)
    if extension_point == "store":
        for extra, stores in EXTRAS.get(distribution, {}).items():
            if name in stores.split():
                return f"'{distribution}[{extra}]'"
    return distribution


def distribution_of(extension_point: str, name: str) -> str:
    """The distribution of this project that has an extension; empty if there is none."""
    for distribution, kinds in EXTENSIONS.items():
        if any(fnmatchcase(name, pattern) for pattern in kinds.get(extension_point, "").split()):
            return distribution
    return ""
