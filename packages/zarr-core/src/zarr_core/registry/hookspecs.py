"""The hooks: functions of plugins that the core calls.

This module imports pluggy, so the core imports it only if there are hooks.

Hooks can supply or select extensions and reject metadata.  They cannot make an extension
optional: that depends on ``must_understand`` and the extension point.  They are called when a
node is opened or created, never for a chunk; to observe chunks, wrap the store.

An implementation is a function of the same name marked with ``hookimpl``; it can omit
arguments.  Implementations that are registered in the process are called first, then those of
distributions in reverse alphabetical order.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location
    from zarr_core.metadata.validation_problem import ValidationProblem
    from zarr_core.registry.provider import Provider

PROJECT = "zarr_core"

PluginValidationError = pluggy.PluginValidationError

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator for implementations of hooks."""


def new_manager() -> pluggy.PluginManager:
    """A plugin manager for the hooks below, without plugins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(sys.modules[__name__])
    return manager


@hookspec(firstresult=True)
def zarr_supply_extension(
    extension_point: str, definition: ExtensionDefinition
) -> type[Any] | None:
    """Supply the class for an unknown name, such as one of a family without entry points.

    Called only for names that are not installed, so a hook cannot replace an extension.

    Parameters
    ----------
    extension_point : str
        The extension point, such as ``"codec"``.
    definition : ExtensionDefinition
        The definition in the metadata.

    Returns
    -------
    type or None
        A class derived from the interface of that extension point; None to call the next hook.
    """


@hookspec(firstresult=True)
def zarr_select_provider(
    extension_point: str, name: str, providers: Sequence[Provider]
) -> Provider | None:
    """Choose among several distributions that provide the same extension.

    Called only for a conflict: not if the settings select one, nor for extensions of the core.

    Parameters
    ----------
    extension_point, name : str
        The extension.
    providers : sequence of Provider
        The providers, at least two.

    Returns
    -------
    Provider or None
        One of ``providers``; None to call the next hook.
    """


@hookspec(firstresult=True)
def zarr_choose_fallback(
    definition: ExtensionDefinition, fallbacks: Sequence[ExtensionDefinition], location: Location
) -> ExtensionDefinition | None:
    """Choose a fallback for an unknown data type; not called if the settings forbid fallbacks.

    Parameters
    ----------
    definition : ExtensionDefinition
        The unknown data type.
    fallbacks : sequence of ExtensionDefinition
        The fallbacks in the metadata that are installed, in their order; at least one.
    location : Location
        The definition of the data type.

    Returns
    -------
    ExtensionDefinition or None
        One of ``fallbacks``; None to call the next hook.  The default is the first fallback.
    """


@hookspec
def zarr_check_metadata(
    location: Location, document: Mapping[str, JSON]
) -> Iterable[ValidationProblem] | None:
    """Check a valid metadata document that was read or will be written.

    Parameters
    ----------
    location : Location
        The node.
    document : mapping
        The metadata document.

    Returns
    -------
    iterable of ValidationProblem, or None
        Any problem makes opening or writing fail.
    """


@hookspec
def zarr_extension_used(
    location: Location, extension_point: str, name: str, provider: Provider
) -> None:
    """Observe that a node uses an extension; called for each that is created from metadata.

    Errors of this hook become warnings.

    Parameters
    ----------
    location : Location
        The definition in the metadata of a node; without store if there is none.
    extension_point, name : str
        The extension.
    provider : Provider
        The provider of the extension.
    """
