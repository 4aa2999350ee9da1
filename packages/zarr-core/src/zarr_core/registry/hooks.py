"""Call the hooks of installed and registered plugins; see :mod:`zarr_core.registry.hookspecs`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import deepcopy
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionLoadError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.provider import Provider, is_fault
from zarr_core.registry.registry import all_providers, is_disabled
from zarr_core.registry.scope import check_override
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pluggy import HookCaller, PluginManager

    from zarr_core.definition import JSON
    from zarr_core.location import Location

T = TypeVar("T")

_HERE = "this process"  # the source of hooks that are registered at run time
# Whether the errors of a hook are raised.  Those of the others affect only the plugin.
_HOOKS = {
    "zarr_supply_extension": False,
    "zarr_list_extensions": False,
    "zarr_select_provider": True,
    "zarr_choose_fallback": True,
    "zarr_check_metadata": True,
    "zarr_extension_used": False,
}
_registered: list[object] = []
_callers: tuple[int, dict[str, HookCaller | None]] = (-1, {})
_building: set[int] = set()  # threads
_warned: set[tuple[str, str, str]] = set()
_lock = threading.Lock()  # guards _registered, never held while anything is imported


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
    from zarr_core.registry import hookspecs  # imports pluggy

    _add(hookspecs.new_manager(), _source_of(plugin), plugin)
    with _lock:
        if any(item is plugin for item in _registered):
            raise ValueError(f"{plugin!r} is already registered")
        _registered.append(plugin)
        config.invalidate_caches()


def unregister_hooks(plugin: object) -> None:
    """Undo :func:`register_hooks`; ValueError if the plugin is not registered."""
    with _lock:
        kept = [item for item in _registered if item is not plugin]
        if len(kept) == len(_registered):
            raise ValueError(f"{plugin!r} is not registered")
        _registered[:] = kept
        config.invalidate_caches()


def active(hook: str = "zarr_extension_used") -> bool:
    """Whether a plugin implements a hook, by default the one that observes extensions."""
    return _caller(hook) is not None


def supply_extension(extension_point: str, definition: ExtensionDefinition) -> list[Provider]:
    """The providers of a name that hooks supply; a hook that fails is an error without any."""
    name = definition.name
    supplied, failures = _collect(
        "zarr_supply_extension", extension_point, name, definition=definition
    )
    usable = [it for it in supplied if it.name == name and not is_disabled(it.distribution)]
    if failures and not usable:
        raise failures[0]
    _warn_once(failures)
    return usable


def list_extensions(extension_point: str) -> list[Provider]:
    """The providers that hooks list, with disabled ones; a hook that fails is warned of."""
    listed, failures = _collect("zarr_list_extensions", extension_point)
    _warn_once(failures)
    return listed


def _collect(
    hook: str, extension_point: str, name: str = "", **arguments: Any
) -> tuple[list[Provider], list[ExtensionLoadError]]:
    """The results of a hook, which are providers, or classes for a name; and its failures."""
    providers: dict[Provider, None] = {}
    failures: list[ExtensionLoadError] = []
    for source, result in _call(hook, extension_point=extension_point, **arguments):
        for item in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(item, ExtensionLoadError):
                failures.append(item)
            elif isinstance(item, Provider):
                providers[item] = None
            else:
                try:
                    origin = source.distribution, source.version
                    providers[check_override(extension_point, name, item, *origin)] = None
                except (TypeError, ValueError) as error:
                    failures.append(_failure(source, f"{hook} returned {item!r}: {error}"))
    found = (item for item in providers if item.extension_point == extension_point)
    return sorted(found, key=str), failures


def select_provider(
    extension_point: str, name: str, providers: Sequence[Provider]
) -> Provider | None:
    """The provider that the hook ``zarr_select_provider`` selects."""
    arguments = {"extension_point": extension_point, "name": name, "providers": providers}
    return _choose("zarr_select_provider", arguments, providers)


def choose_fallback(
    definition: ExtensionDefinition, fallbacks: Sequence[ExtensionDefinition], location: Location
) -> ExtensionDefinition | None:
    """The fallback that the hook ``zarr_choose_fallback`` chooses."""
    arguments = {"definition": definition, "fallbacks": fallbacks, "location": location}
    return _choose("zarr_choose_fallback", arguments, fallbacks)


def _choose(hook: str, arguments: Mapping[str, Any], items: Sequence[T]) -> T | None:
    if not (answer := _call(hook, **arguments)):
        return None
    source, chosen = answer
    for item in items:
        if item == chosen:
            return item
    allowed = ", ".join(
        item.name if isinstance(item, ExtensionDefinition) else str(item) for item in items
    )
    raise _failure(source, f"{hook} returned {chosen!r}, which must be one of {allowed}")


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report."""
    hook = "zarr_check_metadata"
    if _caller(hook) is None:
        return []
    problems: list[ValidationProblem] = []
    # A hook could change the document.
    for source, result in _call(hook, location=location, document=deepcopy(dict(document))):
        for problem in result if isinstance(result, (tuple, list)) else (result,):
            if not isinstance(problem, ValidationProblem):
                reason = f"{hook} returned {problem!r}, which must be a ValidationProblem"
                raise _failure(source, reason)
            problems.append(problem)
    return problems


def extension_used(location: Location, extension_point: str, name: str, provider: Provider) -> None:
    """Call the hooks ``zarr_extension_used``; an error becomes a warning, once per plugin."""
    if _caller("zarr_extension_used") is not None:
        arguments = {"location": location, "extension_point": extension_point}
        for _, result in _call("zarr_extension_used", **arguments, name=name, provider=provider):
            if isinstance(result, ExtensionLoadError):
                _warn_once([result])


def _call(hook: str, **arguments: Any) -> Any:
    """The results that are not None, each with the plugin; for hooks with one result, that one."""
    caller = _caller(hook)
    return () if caller is None else caller(**arguments)


def _caller(hook: str) -> HookCaller | None:
    """The function that calls the implementations of a hook; None if there are none."""
    global _callers
    version, callers = _callers
    if version != config.version:
        callers = {}
        _callers = (config.version, callers)
    if hook not in callers:
        thread = threading.get_ident()
        if thread in _building:  # a plugin opens an array while it is imported
            return None
        # Without a lock: another thread that imports the same plugin could wait for this one.
        _building.add(thread)
        try:
            callers[hook] = _build(hook)
        finally:
            _building.discard(thread)
    return callers[hook]


def _build(hook: str) -> HookCaller | None:
    """Import the plugins of a hook, and pluggy if there are any; those that fail are ignored."""
    # An entry point with the name of a hook is for this hook only.
    sources = [
        item for item in all_providers("hooks") if item.name == hook or item.name not in _HOOKS
    ]
    if not sources and not _registered:
        return None
    from zarr_core.registry import hookspecs

    manager = hookspecs.new_manager()
    for source in sources:
        try:
            _add(manager, source, source.load())
        except ExtensionLoadError as error:
            _warn_once([error], f"hooks of {source} are ignored: ")
    for plugin in tuple(_registered):
        _add(manager, _source_of(plugin), plugin)
    caller: HookCaller = getattr(manager.hook, hook)
    return caller if caller.get_hookimpls() else None


class _Hooks:
    """The hooks of a plugin, which are set as attributes."""

    def __init__(self, plugin: object) -> None:
        self._plugin = plugin

    def __repr__(self) -> str:
        return repr(self._plugin)


def _add(manager: PluginManager, source: Provider, plugin: object) -> None:
    """Register a plugin; unknown hooks and arguments are errors."""
    from zarr_core.registry.hookspecs import PluginValidationError

    hooks = _Hooks(plugin)
    try:
        for name in dir(plugin):
            if options := manager.parse_hookimpl_opts(plugin, name):
                if options["wrapper"] or options["hookwrapper"]:
                    raise PluginValidationError(plugin, f"{name}: wrappers are not supported")
                setattr(hooks, name, _attributed(source, name, getattr(plugin, name)))
        manager.register(hooks, f"{len(manager.get_plugins())}: {source}")
        manager.check_pending()
        if not manager.get_hookcallers(hooks):
            raise PluginValidationError(plugin, "none of its functions is marked with hookimpl")
    except PluginValidationError as error:
        if manager.is_registered(hooks):
            manager.unregister(hooks)
        raise _failure(source, str(error)) from error


def _attributed(source: Provider, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A hook whose results and errors are those of a plugin."""

    @wraps(function)
    def call(*arguments: object) -> tuple[Provider, object] | None:
        try:
            result = function(*arguments)
            if isinstance(result, Iterator):
                result = tuple(result)  # which can raise errors
        except BaseException as error:
            if not is_fault(error) or (_HOOKS[hook] and isinstance(error, ZarrError)):
                raise  # a ZarrError is intended for the user
            result = _failure(source, f"{hook} raised {type(error).__name__}: {error}")
            if _HOOKS[hook]:
                raise result from error
            result.__cause__ = error
        return None if result is None else (source, result)

    return call


def _source_of(plugin: object) -> Provider:
    module = getattr(plugin, "__module__", "") or ""
    name = getattr(plugin, "__qualname__", "") or getattr(plugin, "__name__", "")
    name = name or type(plugin).__qualname__
    return Provider("hooks", name, f"{module}:{name}", _HERE)


def _failure(source: Provider, reason: str) -> ExtensionLoadError:
    remedy = f"Repair it, or disable it: zarr_core.config.set(disabled_plugins={{{source.distribution!r}}})"
    if source.distribution == _HERE:
        remedy = "Repair it, or remove it: zarr_core.unregister_hooks"
    point, name, target = source.extension_point, source.name, source.target
    return ExtensionLoadError(point, name, target, source.origin, reason, remedy)


def _warn_once(failures: Sequence[ExtensionLoadError], prefix: str = "") -> None:
    for failure in failures:
        key = prefix, failure.distribution, failure.target
        if key not in _warned:
            _warned.add(key)
            warn(f"{prefix}{failure}")
