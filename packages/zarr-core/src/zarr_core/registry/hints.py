"""Errors about unknown extensions, with similar names and the remedy."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.registry import hooks
from zarr_core.registry.discovery import is_disabled, providers
from zarr_core.registry.entry_points import entry_points
from zarr_core.registry.extension_names import names
from zarr_core.registry.known_extensions import EXTENSIONS, EXTRAS
from zarr_core.registry.provider import known

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

_OTHERS = (
    "; or install the distribution that provides it to numcodecs (entry-point group "
    "numcodecs.codecs); for your own codec: numcodecs.register_codec(its class)"
)


def unknown(extension_point: str, name: str, location: Location) -> UnknownExtensionError:
    """The error about an unknown extension."""
    from difflib import get_close_matches

    full = _full_names(extension_point, name)
    similar = get_close_matches(name, sorted(_usable_names(extension_point)))
    hint = install_hint(extension_point, name)
    shown = [*dict.fromkeys([*full, *similar])]
    return UnknownExtensionError(extension_point, name, location, shown, hint)


def _usable_names(extension_point: str) -> set[str]:
    return {*names(extension_point), *(it.name for it in hooks.supplied(extension_point))}


def _full_names(extension_point: str, name: str) -> list[str]:
    """The installed names that are ``name`` behind a prefix: ``numcodecs.lz4`` for ``lz4``."""
    usable = _usable_names(extension_point)
    return sorted(other for other in usable if other.rpartition(".")[2] == name != other)


def install_hint(extension_point: str, name: str) -> str:
    """How to install or enable an unknown extension."""
    if reason := _NOT_REGISTERED.get((extension_point, name)):
        return reason
    no_plugins = "*" in config.settings.disabled_plugins
    offered = [] if no_plugins else _offered(extension_point, name)
    disabled = [item for item in offered if is_disabled(item.distribution)]
    if origins := [item.origin for item in disabled if not item.alternative]:
        return f"It is in {', '.join(origins)}, which the setting disabled_plugins disables."
    if usable := [item for item in offered if item not in disabled]:  # alternatives
        return f"An alternative is installed; to select it: {setting_of(usable[0])}"
    if full := _full_names(extension_point, name):
        return f"Use the full name {' or '.join(map(repr, full))}."
    other = _for_other_library(extension_point, name)
    if distribution := well_known(extension_point, name):
        off = " and do not disable it" if is_disabled(distribution) else ""
        hint = f"Install it{off}: pip install --upgrade {requirement(extension_point, name)}"
        if extension_point == "codec" and name.startswith("numcodecs."):
            hint += f". {other}" if other else _OTHERS
        return hint
    if other:
        return other
    if extension_point == "format":
        # The user passes 3 for "v3".
        numbers = ((known, known.removeprefix("v")) for known in names(extension_point))
        choices = (text if text.isdecimal() else repr(known) for known, text in numbers)
        return f"zarr_format must be one of {', '.join(choices)}."
    fsspec = f"If fsspec supports it, use fsspec+{name}://. " if extension_point == "store" else ""
    off = "The setting disabled_plugins disables all plugins; change it first. "
    return (
        f"{off if no_plugins else ''}{fsspec}"
        f"Install the distribution that provides it (entry-point group zarr_core.{extension_point}), or pass "
        f"its class: zarr_core.override_extensions({{'{extension_point}': {{'{name}': ...}}}})."
    )


def _offered(extension_point: str, name: str) -> list[Provider]:
    """What distributions and hooks offer, also disabled ones."""
    offered = [*providers(extension_point, name, disabled=True), *hooks.supplied(extension_point)]
    return [item for item in offered if item.name == name]


def setting_of(provider: Provider) -> str:
    """The setting that selects a provider."""
    choice = f"'{provider.extension_point}.{provider.name}': '{provider.choice}'"
    return f"zarr_core.config.set(providers={{{choice}}})"


def _for_other_library(extension_point: str, name: str) -> str:
    """How to use an installed or published extension for zarr-python or numcodecs; else empty."""
    # zarr-python also reads groups with the name of the codec, such as "zarr.codecs.gzip".
    group = f"zarr.{extension_point.replace('codec', 'codecs')}"
    for point in entry_points("zarr."):
        if (point.group, point.name) == (group, name) or point.group == f"{group}.{name}":
            provider = f"{point.distribution} {point.version}"
            return f"{provider} provides it for zarr-python; to use it: pip install zarr-bridge"
    plain = name.removeprefix("numcodecs.")
    library, needed = ("zarr", " zarr-bridge") if plain == name else ("numcodecs", "")
    if (published := known.get("published")) is None:
        import tomllib  # seldom needed
        from importlib.resources import files

        text = files(__package__).joinpath("published_extensions.toml").read_text()
        published = known.keep("published", tomllib.loads(text))
    for distribution, kinds in published.items():
        if plain in kinds.get(f"{library}.{extension_point}", "").split():
            return f"A package with it has been published: pip install {distribution}{needed}"
    return ""


def other_providers(extension_point: str, name: str, used: str) -> str:
    """How to select other installed distributions that provide an extension; empty without any."""
    others = dict.fromkeys(
        f"{item.choice} also provides it; to select it: {setting_of(item)}"
        for item in _offered(extension_point, name)
        if not item.alternative and item.distribution != used
        if not is_disabled(item.distribution)
    )
    return "; ".join(others)


def requirement(extension_point: str, name: str) -> str:
    """The requirement for pip: the distribution of an extension, with its extra."""
    distribution = well_known(extension_point, name)
    if extension_point == "store":
        for extra, stores in EXTRAS.get(distribution, {}).items():
            if name in stores.split():
                return f"'{distribution}[{extra}]'"
    return distribution


def well_known(extension_point: str, name: str) -> str:
    """The distribution of this project that has an extension; empty if there is none."""
    for distribution, kinds in EXTENSIONS.items():
        if any(fnmatchcase(name, pattern) for pattern in kinds.get(extension_point, "").split()):
            return distribution
    return ""
