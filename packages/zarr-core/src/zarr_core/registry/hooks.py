"""Call the hooks of installed and registered plugins; see :mod:`zarr_core.registry.hookspecs`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import deepcopy
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.provider import Provider, is_fault
from zarr_core.registry.registry import all_providers
from zarr_core.registry.scope import check_override
from zarr_core.user_warning import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pluggy import HookCaller, PluginManager

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location

T = TypeVar("T")

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
    if any(item is plugin for item in _registered):
        raise ValueError(f"{plugin!r} is already registered")
    _registered.append(plugin)
    config.invalidate_caches()


def unregister_hooks(plugin: object) -> None:
    """Undo :func:`register_hooks`; ValueError if the plugin is not registered."""
    for number, item in enumerate(_registered):
        if item is plugin:
            del _registered[number]
            config.invalidate_caches()
            return
    raise ValueError(f"{plugin!r} is not registered")


def supplied(extension_point: str, definition: ExtensionDefinition | None = None) -> list[Provider]:
    """The providers of a definition that hooks supply, or of all names that hooks list.

    A hook that fails to supply the definition is an error, unless another supplies it.
    """
    providers: set[Provider] = set()
    failures: list[ExtensionLoadError] = []
    name, hook = "", "zarr_list_extensions"
    asked: dict[str, Any] = {"extension_point": extension_point}
    if definition is not None:
        name, hook = definition.name, "zarr_supply_extension"
        asked["definition"] = definition
    for source, result in call(hook, **asked):
        for item in result if isinstance(result, (tuple, list)) else (result,):
            try:
                if isinstance(item, ExtensionLoadError):
                    raise item
                if not isinstance(item, Provider):
                    origin = source.distribution, source.version
                    item = check_override(extension_point, name, item, *origin)
                if item.extension_point == extension_point and name in ("", item.name):
                    providers.add(item)
            except (TypeError, ValueError) as error:
                failures.append(failure(source, f"{hook} returned {item!r}: {error}"))
            except ExtensionLoadError as error:
                failures.append(error)
    if name and failures and not providers:
        raise failures[0]
    for warned in failures:
        warn_once(str(warned))
    return sorted(providers, key=str)


def choose(hook: str, items: Sequence[T], names: Iterable[str], **arguments: Any) -> T | None:
    """The item that a hook chooses; None if it has no answer.  The names are for errors."""
    if not (answer := call(hook, **arguments)):
        return None
    source, chosen = answer
    for item in items:
        if item == chosen:
            return item
    allowed = ", ".join(names)
    raise failure(source, f"{hook} returned {chosen!r}, which must be one of {allowed}")


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report."""
    hook = "zarr_check_metadata"
    problems: list[ValidationProblem] = []
    # A hook could change the document.
    copied = deepcopy(dict(document)) if active(hook) else document
    for source, result in call(hook, location=location, document=copied):
        problems += result if isinstance(result, (tuple, list)) else (result,)
        if invalid := [item for item in problems if not isinstance(item, ValidationProblem)]:
            reason = f"{hook} returned {invalid[0]!r}, which must be a ValidationProblem"
            raise failure(source, reason)
    return problems


def extension_used(location: Location, extension_point: str, name: str, provider: Provider) -> None:
    """Call the hooks ``zarr_extension_used``; an error becomes a warning, once per plugin."""
    if caller := _caller("zarr_extension_used"):
        for _, result in caller(
            location=location, extension_point=extension_point, name=name, provider=provider
        ):
            if isinstance(result, ExtensionLoadError):
                warn_once(str(result))


def active(hook: str = "zarr_extension_used") -> bool:
    """Whether a plugin implements a hook, by default the one that observes extensions."""
    return _caller(hook) is not None


def call(hook: str, **arguments: Any) -> Any:
    """The results that are not None, each with the plugin; for hooks with one result, that one."""
    caller = _caller(hook)
    return () if caller is None else caller(**arguments)


def _caller(hook: str) -> HookCaller | None:
    """The function that calls the implementations of a hook; None if there are none."""
    global _callers
    if _callers[0] != config.version:
        _callers = (config.version, {})
    callers = _callers[1]
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
    sources = [it for it in all_providers("hooks") if it.name == hook or it.name not in _HOOKS]
    if not sources and not _registered:
        return None
    from zarr_core.registry import hookspecs

    manager = hookspecs.new_manager()
    for source in sources:
        try:
            _add(manager, source, source.load())
        except ExtensionLoadError as error:
            warn_once(f"hooks of {source} are ignored: {error}")
    for plugin in tuple(_registered):
        _add(manager, _source_of(plugin), plugin)
    caller: HookCaller = getattr(manager.hook, hook)
    return caller if caller.get_hookimpls() else None


def _add(manager: PluginManager, source: Provider, plugin: object) -> None:
    """Register a plugin; unknown hooks and arguments are errors."""
    from zarr_core.registry.hookspecs import PluginValidationError

    hooks = ModuleType(str(source))
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
        raise failure(source, str(error)) from error


def _attributed(source: Provider, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A hook whose results and errors are those of a plugin."""

    @wraps(function)
    def called(*arguments: object) -> tuple[Provider, object] | None:
        try:
            result = function(*arguments)
            if isinstance(result, Iterator):
                result = tuple(result)  # which can raise errors
        except BaseException as error:
            if not is_fault(error) or (_HOOKS[hook] and isinstance(error, ZarrError)):
                raise  # a ZarrError is intended for the user
            result = failure(source, f"{hook} raised {type(error).__name__}: {error}")
            if _HOOKS[hook]:
                raise result from error
            result.__cause__ = error
        return None if result is None else (source, result)

    return called


def _source_of(plugin: object) -> Provider:
    module = getattr(plugin, "__module__", "") or ""
    name = getattr(plugin, "__qualname__", "") or getattr(plugin, "__name__", "")
    name = name or type(plugin).__qualname__
    return Provider("hooks", name, f"{module}:{name}", "this process")


def failure(source: Provider, reason: str) -> ExtensionLoadError:
    """The error for a hook, with how to disable it."""
    disable = f"zarr_core.config.set(disabled_plugins={{{source.distribution!r}}})"
    if source.distribution == "this process":
        disable = "zarr_core.unregister_hooks"
    remedy = f"Repair it, or disable it: {disable}"
    return ExtensionLoadError("hooks", source.name, source.target, source.origin, reason, remedy)
