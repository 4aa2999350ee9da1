"""The hooks: functions of plugins that the core calls when a node is opened or created.

They are never called for a chunk; to observe chunks, wrap the store.  Hooks can supply extensions
and reject metadata.  They cannot make an extension optional: that depends on ``must_understand``
and the extension point.

An implementation is a function of the same name marked with ``hookimpl``; it can omit arguments,
and return None if it has no answer.  Wrappers of hooks are not supported.  An error of a hook names
the plugin.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.errors import ValidationProblem
    from zarr_core.location import Location
    from zarr_core.registry.provider import Provider

hookspec = pluggy.HookspecMarker("zarr_core")
hookimpl = pluggy.HookimplMarker("zarr_core")
"""Decorator for implementations of hooks."""


def plugin_manager(source: Provider, plugin: object) -> pluggy.PluginManager:
    """A manager of one plugin: a mistake in it, or its failure, is that of no other plugin."""
    manager = pluggy.PluginManager("zarr_core")
    manager.add_hookspecs(sys.modules[__name__])
    try:
        manager.register(plugin, str(source))
        manager.check_pending()  # for hooks that do not exist
    except pluggy.PluginValidationError as error:
        raise source.failure(str(error), "failed to load") from error
    callers = manager.get_hookcallers(plugin) or ()
    implementations = [item for caller in callers for item in caller.get_hookimpls()]
    if not implementations:
        raise source.failure("none of its functions is marked with hookimpl", "failed to load")
    if any(item.wrapper or item.hookwrapper for item in implementations):
        raise source.failure("wrappers are not supported", "failed to load")
    return manager


@hookspec
def zarr_supply_extension(
    extension_point: str, definition: ExtensionDefinition
) -> type[Any] | Provider | Iterable[Provider] | None:
    """Supply an extension for a name that no installed distribution declares.

    The result is a class, or one or more providers, which are not imported before one is selected.
    Several are in conflict, as if they were installed.
    """


@hookspec
def zarr_list_extensions(extension_point: str) -> Iterable[Provider] | None:
    """List what ``zarr_supply_extension`` can supply, for listings, settings and error messages."""


@hookspec
def zarr_check_metadata(
    location: Location, document: Mapping[str, JSON]
) -> Iterable[ValidationProblem] | None:
    """Check a valid metadata document that was read or will be written; any problem is an error."""
