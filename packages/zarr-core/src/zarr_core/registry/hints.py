"""Errors about unknown extensions, with similar names and the remedy."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.registry import discovery, hooks
from zarr_core.registry.discovery import is_disabled, providers
from zarr_core.registry.entry_points import entry_points
from zarr_core.registry.extension_names import names
from zarr_core.registry.known_extensions import EXTENSIONS, EXTRAS
from zarr_core.registry.provider import known

if TYPE_CHECKING:
    from zarr_core.location import Location

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
    similar = get_close_matches(name, sorted(_known_names(extension_point)))
    return UnknownExtensionError(
        extension_point,
        name,
        location,
        [*full, *(other for other in similar if other not in full)],
        install_hint(extension_point, name),
    )


def _known_names(extension_point: str) -> set[str]:
    return {*names(extension_point), *(it.name for it in hooks.supplied(extension_point))}


def _full_names(extension_point: str, name: str) -> list[str]:
    """The installed names that are ``name`` behind a prefix: ``numcodecs.lz4`` for ``lz4``."""
    names_ = _known_names(extension_point)
    return sorted(other for other in names_ if other.rpartition(".")[2] == name != other)


def install_hint(extension_point: str, name: str) -> str:
    """How to install or enable an unknown extension."""
    if reason := _NOT_REGISTERED.get((extension_point, name)):
        return reason
    if "*" not in config.settings.disabled_plugins:
        installed = discovery.scan().providers.get(extension_point, {}).get(name, ())
        listed = [it for it in hooks.supplied(extension_point) if it.name == name]
        if disabled := [
            item.origin
            for item in (*installed, *listed)
            if not item.alternative and is_disabled(item.distribution)
        ]:
            return f"It is in {', '.join(disabled)}, which the setting disabled_plugins disables."
        if usable := providers(extension_point, name):  # alternatives, as the name is unknown
            return (
                f"An alternative is installed; to select it: "
                f"zarr_core.config.set(providers={{'{extension_point}.{name}': '{usable[0].choice}'}})"
            )
    if full := _full_names(extension_point, name):
        return f"Use the full name {' or '.join(map(repr, full))}."
    if distribution := well_known(extension_point, name):
        off = " and do not disable it" if is_disabled(distribution) else ""
        others = ""
        if extension_point == "codec" and name.startswith("numcodecs."):
            other = _for_other_library(extension_point, name)
            others = f". {other}" if other else _OTHERS
        return (
            f"Install it{off}: pip install --upgrade {requirement(extension_point, name)}{others}"
        )
    if other := _for_other_library(extension_point, name):
        return other
    if extension_point == "format":
        # The user passes 3 for "v3".
        choices = [
            other[1:] if other[0] == "v" and other[1:].isdecimal() else repr(other)
            for other in names(extension_point)
        ]
        return f"zarr_format must be one of {', '.join(choices)}."
    fsspec = f"If fsspec supports it, use fsspec+{name}://. " if extension_point == "store" else ""
    all_off = "*" in config.settings.disabled_plugins
    off = "The setting disabled_plugins disables all plugins; change it first. " if all_off else ""
    return (
        f"{off}{fsspec}"
        f"Install the distribution that provides it (entry-point group zarr_core.{extension_point}), or pass "
        f"its class: zarr_core.override_extensions({{'{extension_point}': {{'{name}': ...}}}})."
    )


def _published() -> dict[str, dict[str, str]]:
    """For distributions of others, the names of their extensions for zarr-python and numcodecs."""
    import tomllib  # seldom needed
    from importlib.resources import files

    return tomllib.loads(files(__package__).joinpath("published_extensions.toml").read_text())


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
    published = known.get("published") or known.keep("published", _published())
    for distribution, kinds in published.items():
        if plain in kinds.get(f"{library}.{extension_point}", "").split():
            return f"A package with it has been published: pip install {distribution}{needed}"
    return ""


def other_providers(extension_point: str, name: str, used: str) -> str:
    """How to select other installed distributions that provide an extension; empty without any."""
    usable = (*providers(extension_point, name), *hooks.supplied(extension_point))
    others = dict.fromkeys(
        item.choice
        for item in usable
        if item.name == name and not item.alternative and item.distribution != used
        if not is_disabled(item.distribution)
    )
    settings = (
        f"{other} also provides it; to select it: "
        f"zarr_core.config.set(providers={{'{extension_point}.{name}': '{other}'}})"
        for other in others
    )
    return "; ".join(settings)


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
