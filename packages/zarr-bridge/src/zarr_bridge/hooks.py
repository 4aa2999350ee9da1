"""The hooks that supply extensions for zarr-python, listed without importing them.

Groups: ``zarr.codecs``; ``zarr.codecs.<name>`` for several classes of one codec;
``zarr.data_type``; ``zarr.chunk_key_encoding``.  The name of the entry point is the name in
metadata, as zarr-python requires for codecs and chunk key encodings.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_core.extension import Provider, hookimpl, installed_entry_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ExtensionDefinition

_MANY_CODECS = "zarr.codecs."
_ADAPTERS = {
    "zarr.codecs": ("codec", "zarr_bridge.codecs:adapt"),
    "zarr.data_type": ("data_type", "zarr_bridge.data_types:adapt"),
    "zarr.chunk_key_encoding": (
        "chunk_key_encoding",
        "zarr_bridge.chunk_key_encodings:adapt",
    ),
}


@hookimpl
def zarr_list_extensions() -> Iterator[Provider]:
    """Yield every extension that another distribution provides for zarr-python.

    None beside zarr-python before 3.1, which has other interfaces.
    """
    if not _is_supported():
        return
    for group, name, target, distribution, version in installed_entry_points("zarr."):
        if group.startswith(_MANY_CODECS):
            group, name = "zarr.codecs", group.removeprefix(_MANY_CODECS)
        if group in _ADAPTERS:
            extension_point, adapter = _ADAPTERS[group]
            yield Provider(extension_point, name, target, distribution, version, adapter)


@hookimpl
def zarr_supply_extension(
    extension_point: str, definition: ExtensionDefinition
) -> tuple[Provider, ...]:
    """Return the providers of a name, or else the codec that programs registered for it."""
    name = definition.name
    offered = tuple(
        provider
        for provider in zarr_list_extensions()
        if (provider.extension_point, provider.name) == (extension_point, name)
    )
    return offered or (tuple(registered(name)) if extension_point == "codec" else ())


def _is_supported() -> bool:
    """Return whether the installed zarr-python is 3.1 or newer, without importing it."""
    if (module := sys.modules.get("zarr")) is not None:
        return not str(getattr(module, "__version__", "")).startswith(("2.", "3.0."))
    spec = find_spec("zarr")
    folders = spec.submodule_search_locations if spec else None
    return any(Path(folder, "dtype.py").is_file() for folder in folders or ())


def registered(name: str) -> Iterator[Provider]:
    """Yield the codec class that a program registered with ``zarr.registry.register_codec``.

    Not one of zarr-python or of this distribution.
    """
    registry: Any = sys.modules.get("zarr.registry")  # if it is not imported, nothing is registered
    # No public function of zarr-python lists them; the name of the table depends on the release.
    names = vars(registry) if registry else {}
    candidates: dict[str, Any] = {}
    for table in ("__codec_registries", "_codec_registries"):
        candidates |= dict(names.get(table, {}).get(name, {}))
    for cls in candidates.values():
        distribution = cls.__module__.partition(".")[0]
        if distribution not in ("zarr", "zarr_bridge"):
            if len(candidates) > 1:
                cls = registry.get_codec_class(name)  # zarr-python chooses
            target = f"{cls.__module__}:{cls.__qualname__}"
            adapter = _ADAPTERS["zarr.codecs"][1]
            yield Provider("codec", name, target, distribution, "", adapter, extension=cls)
            return
