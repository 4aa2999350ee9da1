"""Call the hooks of installed and registered plugins; see :mod:`zarr_core.registry.hookspecs`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.discovery import all_providers
from zarr_core.registry.provider import Provider, is_fault, known
from zarr_core.registry.scope import check_override
from zarr_core.user_warning import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from pluggy import PluginManager

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location

    Implementation: TypeAlias = tuple[Provider, Callable[..., Any], Sequence[str]]

T = TypeVar("T")

# An entry point with the name of a hook is for this hook only.
_HOOKS = {
    "zarr_supply_extension",
    "zarr_list_extensions",
    "zarr_select_provider",
    "zarr_choose_fallback",
    "zarr_check_metadata",
    "zarr_extension_used",
}
_registered: list[object] = []
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
    arguments: dict[str, Any] = {"extension_point": extension_point}
    if definition is not None:
        name, hook = definition.name, "zarr_supply_extension"
        arguments["definition"] = definition
    for source, result in call(hook, arguments, failures):
        for item in result if isinstance(result, (tuple, list)) else (result,):
            try:
                if not isinstance(item, Provider):
                    origin = source.distribution, source.version
                    item = check_override(extension_point, name, item, *origin)
                if item.extension_point == extension_point and name in ("", item.name):
                    providers.add(item)
            except (TypeError, ValueError) as error:
                failures.append(source.failure(f"{hook} returned {item!r}: {error}"))
    if name and failures and not providers:
        raise failures[0]
    for warned in failures:
        warn_once(str(warned))
    return sorted(providers, key=str)


def choose(hook: str, items: Sequence[T], names: Iterable[str], **arguments: Any) -> T | None:
    """The item that the first hook with an answer chooses, or None; the names are for errors."""
    for source, chosen in call(hook, arguments):
        for item in items:
            if item == chosen:
                return item
        allowed = ", ".join(names)
        raise source.failure(f"{hook} returned {chosen!r}, which must be one of {allowed}")
    return None


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report."""
    problems: list[ValidationProblem] = []
    if active(hook := "zarr_check_metadata"):
        document = deepcopy(dict(document))  # a hook could change it
    for source, result in call(hook, {"location": location, "document": document}):
        problems += result if isinstance(result, (tuple, list)) else (result,)
        if invalid := [item for item in problems if not isinstance(item, ValidationProblem)]:
            reason = f"{hook} returned {invalid[0]!r}, which must be a ValidationProblem"
            raise source.failure(reason)
    return problems


def extension_used(location: Location, extension_point: str, name: str, provider: Provider) -> None:
    """Call the hooks ``zarr_extension_used``; an error becomes a warning, once per plugin."""
    failures: list[ExtensionLoadError] = []
    arguments = {"location": location, "extension_point": extension_point, "name": name}
    [*call("zarr_extension_used", {**arguments, "provider": provider}, failures)]
    for error in failures:
        warn_once(str(error))


def active(hook: str = "zarr_extension_used") -> bool:
    """Whether a plugin implements a hook, by default the one that observes extensions."""
    return bool(_implementations(hook))


def call(
    hook: str, arguments: Mapping[str, Any], failures: list[ExtensionLoadError] | None = None
) -> Iterator[tuple[Provider, Any]]:
    """Yield the results of a hook that are not None, each with its plugin.

    An error of a plugin is raised, or added to ``failures``.
    """
    for source, function, names in _implementations(hook):
        try:
            result = function(*(arguments[name] for name in names))
            if isinstance(result, Iterator):
                result = tuple(result)  # which can raise errors
        except BaseException as error:
            if not is_fault(error) or (failures is None and isinstance(error, ZarrError)):
                raise  # a ZarrError is intended for the user
            failed = source.failure(f"{hook} raised {type(error).__name__}: {error}")
            if failures is None:
                raise failed from error
            failed.__cause__ = error
            failures.append(failed)
        else:
            if result is not None:
                yield source, result


def _implementations(hook: str) -> Sequence[Implementation]:
    key = hook, config.version
    found: list[Implementation] | None = known.get(key)
    if found is not None:
        return found
    thread = threading.get_ident()
    if thread in _loading:  # a plugin opens an array while it is imported
        return ()
    # Without a lock: another thread that imports the same plugin could wait for this one.
    _loading.add(thread)
    try:
        known.keep(key, found := _load(hook))
        return found
    finally:
        _loading.discard(thread)


def _load(hook: str) -> list[Implementation]:
    """Import the plugins of a hook, and pluggy if there are any; those that fail are ignored."""
    sources = [it for it in all_providers("hooks") if it.name == hook or it.name not in _HOOKS]
    if not sources and not _registered:
        return []
    from zarr_core.registry import hookspecs

    manager = hookspecs.new_manager()
    added: dict[str, Provider] = {}
    for source in (*sources, *map(_source_of, _registered)):
        try:
            plugin = source.load() if source.extension is None else source.extension
            added[_add(manager, source, plugin)] = source
        except ExtensionLoadError as error:
            warn_once(f"hooks of {source} are ignored: {error}")
    # In the order of pluggy, which begins with the last.
    implementations = reversed(getattr(manager.hook, hook).get_hookimpls())
    return [(added[it.plugin_name], it.function, it.argnames) for it in implementations]


def _add(manager: PluginManager, source: Provider, plugin: object) -> str:
    """Register a plugin and return its name; unknown hooks and arguments are errors."""
    from zarr_core.registry.hookspecs import PluginValidationError

    if manager.is_registered(plugin):  # two entry points with the same object
        return str(manager.get_name(plugin))
    name = f"{len(manager.list_name_plugin())}: {source}"
    try:
        manager.register(plugin, name)
        manager.check_pending()
        callers = manager.get_hookcallers(plugin)
        if not callers:
            raise PluginValidationError(plugin, "none of its functions is marked with hookimpl")
        if any(it.wrapper or it.hookwrapper for each in callers for it in each.get_hookimpls()):
            raise PluginValidationError(plugin, "wrappers are not supported")
    except PluginValidationError as error:
        manager.unregister(name=name)
        raise source.failure(str(error), "failed to load") from error
    return name


def _source_of(plugin: object) -> Provider:
    kind = plugin if hasattr(plugin, "__name__") else type(plugin)
    name = getattr(kind, "__qualname__", kind.__name__)
    target = f"{getattr(kind, '__module__', '')}:{name}"
    return Provider("hooks", name, target, "this process", extension=plugin)
