"""Call the hooks of installed and registered plugins; see :mod:`zarr_core.registry.hookspecs`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import chain
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.discovery import providers
from zarr_core.registry.provider import Provider, is_fault, known
from zarr_core.registry.scope import check_override
from zarr_core.user_warning import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pluggy import PluginManager

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location

T = TypeVar("T")

# An entry point with the name of a hook is for this hook only.
_HOOKS = {
    "zarr_supply_extension", "zarr_list_extensions", "zarr_select_provider",
    "zarr_choose_fallback", "zarr_check_metadata", "zarr_extension_used",
}  # fmt: skip
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
    from zarr_core.registry import hookspecs  # imports pluggy

    kind: Any = plugin if hasattr(plugin, "__name__") else type(plugin)
    name = getattr(kind, "__qualname__", kind.__name__)
    target = f"{getattr(kind, '__module__', '')}:{name}"
    source = Provider("hooks", name, target, "this process", extension=plugin)
    _add(hookspecs.new_manager(), source, plugin)
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
    found: set[Provider] = set()
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
                item = check_override(extension_point, name, item, *origin)
            if item.extension_point == extension_point and name in ("", item.name):
                found.add(item)
        except (TypeError, ValueError) as error:
            failures.append(source.failure(f"{hook} returned {item!r}: {error}"))
    if name and failures and not found:  # the definition is not unknown
        raise failures[0]
    for failure in failures:
        warn_once(str(failure))
    return sorted(found, key=str)


def choose(hook: str, items: Sequence[T], names: Iterable[str], **arguments: Any) -> T | None:
    """The item that the first hook with an answer chooses, or None; the names are for errors."""
    for source, chosen in _call(hook, **arguments):
        if chosen in items:
            return items[items.index(chosen)]
        allowed = ", ".join(names)
        raise source.failure(f"{hook} returned {chosen!r}, which must be one of {allowed}")
    return None


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report."""
    if not active(hook := "zarr_check_metadata"):
        return []
    document = deepcopy(dict(document))  # a hook could change it
    found = _call(hook, location=location, document=document)
    for source, item in found:
        if not isinstance(item, ValidationProblem):
            raise source.failure(f"{hook} returned {item!r}, which must be a ValidationProblem")
    return [problem for _, problem in found]


def extension_used(location: Location, extension_point: str, name: str, provider: Provider) -> None:
    """Call the hooks ``zarr_extension_used``; an error becomes a warning, once per plugin."""
    failures: list[ExtensionLoadError] = []
    used = {"extension_point": extension_point, "name": name, "provider": provider}
    _call("zarr_extension_used", failures, location=location, **used)
    for failure in failures:
        warn_once(str(failure))


def active(hook: str = "zarr_extension_used") -> bool:
    """Whether a plugin implements a hook, by default the one that observes extensions."""
    manager = _manager(hook)
    return bool(manager and getattr(manager.hook, hook).get_hookimpls())


def _call(
    hook: str, failures: list[ExtensionLoadError] | None = None, **arguments: Any
) -> list[tuple[Provider, Any]]:
    """All items that the plugins return, each with its plugin; raises errors without ``failures``."""
    found = []
    manager = _manager(hook)
    for source, item in chain(*getattr(manager.hook, hook)(**arguments)) if manager else ():
        if not isinstance(item, ExtensionLoadError):
            found.append((source, item))
        elif failures is None:  # a ZarrError is intended for the user
            raise item.__cause__ if isinstance(item.__cause__, ZarrError) else item
        else:
            failures.append(item)
    return found


def _manager(hook: str) -> PluginManager | None:
    """The plugins that have a hook; None if there are none."""
    key = hook, config.version
    if (manager := known.get(key)) is None and (thread := get_ident()) not in _loading:
        # Without a lock: another thread that imports the same plugin could wait for this one.
        _loading.add(thread)  # a plugin can open an array while it is imported
        try:
            manager = known.keep(key, _load(hook) or False)
        finally:
            _loading.discard(thread)
    return manager or None


def _load(hook: str) -> PluginManager | None:
    """Import the plugins of a hook, and pluggy if there are any; those that fail are ignored."""
    sources = [it for it in providers("hooks") if it.name == hook or it.name not in _HOOKS]
    sources += _registered.values()
    if not sources:
        return None
    from zarr_core.registry import hookspecs

    manager = hookspecs.new_manager()
    for source in sources:
        try:
            _add(manager, source, source.load() if source.extension is None else source.extension)
        except ExtensionLoadError as error:
            warn_once(f"hooks of {source} are ignored: {error}")
    return manager


def _add(manager: PluginManager, source: Provider, plugin: object) -> None:
    """Register a plugin; unknown hooks and arguments are errors."""
    from zarr_core.registry.hookspecs import PluginValidationError

    if manager.is_registered(plugin):  # by another entry point
        return
    try:
        manager.register(plugin, name := f"{len(manager.list_name_plugin())}: {source}")
        manager.check_pending()
        callers = manager.get_hookcallers(plugin) or ()
        own = [(it, hook) for hook in callers for it in hook.get_hookimpls() if it.plugin is plugin]
        if not own:
            raise PluginValidationError(plugin, "none of its functions is marked with hookimpl")
        if any(it.wrapper or it.hookwrapper for it, _ in own):
            raise PluginValidationError(plugin, "wrappers are not supported")
    except PluginValidationError as error:
        manager.unregister(name=name)
        raise source.failure(str(error), "failed to load") from error
    for it, hook in own:
        it.function = _with_source(source, hook.name, it.function)  # type: ignore[misc]  # final for plugins


def _with_source(source: Provider, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that returns its items with its plugin, and whose errors name the plugin."""

    def call(*arguments: Any) -> list[tuple[Provider, Any]]:
        try:
            result = function(*arguments)
            items = result if isinstance(result, Iterator | tuple | list) else (result,)
            return [(source, item) for item in items if result is not None]
        except BaseException as error:
            if not is_fault(error):
                raise
            failure = source.failure(f"{hook} raised {type(error).__name__}: {error}")
            failure.__cause__ = error
            return [(source, failure)]

    return call
