"""Call the hooks of installed and registered plugins; see :mod:`zarr_core.registry.hookspecs`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from threading import get_ident
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, ValidationProblem, ZarrError, is_ordinary_error
from zarr_core.messages import warn_once
from zarr_core.registry.discovery import providers
from zarr_core.registry.overrides import class_provider
from zarr_core.registry.provider import Provider, registry_cache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pluggy import HookCaller

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location

# An entry point with the name of a hook is for this hook only.
_HOOKS = {"zarr_supply_extension", "zarr_list_extensions", "zarr_check_metadata"}
_registered: dict[int, Provider] = {}
_loading: set[int] = set()  # threads


def register_hooks(plugin: object) -> None:
    """Add hooks for this process, such as those of an application.

    Parameters
    ----------
    plugin : object
        A module or an object whose functions are marked with ``hookimpl``.

    Raises
    ------
    ExtensionLoadError
        If it has a hook or an argument that does not exist.
    ValueError
        If it is already registered.
    """
    from zarr_core.registry.hookspecs import plugin_manager  # imports pluggy

    name = getattr(plugin, "__name__", type(plugin).__qualname__)
    target = f"{getattr(plugin, '__module__', '')}:{name}"
    source = Provider("hooks", name, target, "this process", extension=plugin)
    plugin_manager(source, plugin)
    if id(plugin) in _registered:
        raise ValueError(f"{plugin!r} is already registered")
    _registered[id(plugin)] = source
    config.invalidate_caches()


def unregister_hooks(plugin: object) -> None:
    """Undo :func:`register_hooks`; ValueError if the plugin is not registered."""
    if _registered.pop(id(plugin), None) is None:
        raise ValueError(f"{plugin!r} is not registered")
    config.invalidate_caches()


def supplied(extension_point: str, definition: ExtensionDefinition | None = None) -> list[Provider]:
    """The providers of a definition that hooks supply, or of all names that hooks list."""
    offered: set[Provider] = set()
    failures: list[ExtensionLoadError] = []
    name, hook = "", "zarr_list_extensions"
    arguments: dict[str, Any] = {"extension_point": extension_point}
    if definition is not None:
        name, hook = definition.name, "zarr_supply_extension"
        arguments["definition"] = definition
    for source, item in _call(hook, failures, **arguments):
        try:
            if not isinstance(item, Provider):
                origin = source.distribution, source.version
                item = class_provider(extension_point, name, item, *origin)
            if item.extension_point == extension_point and name in ("", item.name):
                offered.add(item)
        except (TypeError, ValueError) as error:
            failures.append(source.failure(f"{hook} returned {item!r}: {error}"))
    if name and failures and not offered:  # the definition is not unknown
        raise failures[0]
    for failure in failures:
        warn_once(str(failure))
    return sorted(offered, key=str)


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report."""
    if not is_implemented(hook := "zarr_check_metadata"):
        return []
    document = deepcopy(dict(document))  # a hook could change it
    problems = _call(hook, location=location, document=document)
    for source, item in problems:
        if not isinstance(item, ValidationProblem):
            raise source.failure(f"{hook} returned {item!r}, which must be a ValidationProblem")
    return [problem for _, problem in problems]


def is_implemented(hook: str) -> bool:
    """Whether a plugin implements a hook."""
    return bool(_callers(hook))


def _call(
    hook: str, failures: list[ExtensionLoadError] | None = None, **arguments: Any
) -> list[tuple[Provider, Any]]:
    """All items that the plugins return, each with its plugin; raises errors without ``failures``."""
    answers: list[tuple[Provider, Any]] = []
    for source, caller in _callers(hook):
        try:
            for result in caller(**arguments):
                items = result if isinstance(result, Iterator | tuple | list) else (result,)
                answers += [(source, item) for item in items]
        except BaseException as error:
            # A ZarrError is intended for the user.
            if not is_ordinary_error(error) or (failures is None and isinstance(error, ZarrError)):
                raise
            failure = source.failure(f"{hook} raised {type(error).__name__}: {error}")
            if failures is None:
                raise failure from error
            failure.__cause__ = error
            failures.append(failure)
    return answers


def _callers(hook: str) -> list[tuple[Provider, HookCaller]]:
    """The plugins that have a hook, and what calls it; the plugin that was added last is first."""
    key = hook, config.version
    if (callers := registry_cache.get(key)) is None and (thread := get_ident()) not in _loading:
        # Without a lock: another thread that imports the same plugin could wait for this one.
        _loading.add(thread)  # a plugin can open an array while it is imported
        try:
            callers = registry_cache.put(key, _load(hook))
        finally:
            _loading.discard(thread)
    return callers or []


def _load(hook: str) -> list[tuple[Provider, HookCaller]]:
    """Import the plugins of a hook, and pluggy if there are any; those that fail are ignored."""
    sources = [item for item in providers("hooks") if item.name == hook or item.name not in _HOOKS]
    sources += _registered.values()
    if not sources:
        return []
    from zarr_core.registry.hookspecs import plugin_manager  # imports pluggy

    callers: dict[int, tuple[Provider, HookCaller]] = {}  # several entry points can have one plugin
    for source in sources:
        try:
            plugin = source.load() if source.extension is None else source.extension
            caller = getattr(plugin_manager(source, plugin).hook, hook)
        except ExtensionLoadError as error:
            warn_once(f"hooks of {source} are ignored: {error}")
        else:
            if caller.get_hookimpls():
                callers.setdefault(id(plugin), (source, caller))
    return [*reversed(callers.values())]
