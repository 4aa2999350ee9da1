"""Whether an installed distribution offers an extension."""

from __future__ import annotations

from zarr_core.extension import ExtensionDefinition
from zarr_core.registry.discovery import providers
from zarr_core.registry.hooks import supplied
from zarr_core.registry.resolve import find_provider


def check_installed(extension_point: str, name: str) -> None:
    """Fail unless an entry point or a hook provides a name without conflicts, and its code can be loaded.

    Parameters
    ----------
    extension_point, name : str
        Such as ``codec`` and ``acme.delta``.
    """
    offered = [
        provider
        for provider in (*providers(extension_point, name), *supplied(extension_point))
        if provider.name == name
    ]
    assert offered, (
        f'no entry point "{name}" in the group zarr_core.{extension_point}; install the distribution '
        "(again, if its entry points have changed)"
    )
    used = offered[0]
    if extension_point != "hooks":
        used = find_provider(extension_point, ExtensionDefinition(name)) or used
    used.load()
