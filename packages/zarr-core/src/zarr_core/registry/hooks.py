"""Call the hooks of installed and registered plugins."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.config import config
from zarr_core.errors import ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.provider import Provider, is_fault
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pluggy import PluginManager

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location
    from zarr_core.registry.provider import Implementation

T = TypeVar("T")

_HERE = "this process"  # the source of hooks that are registered at run time


class _Plugins:
    """A plugin manager with the source of each plugin."""

    def __init__(self) -> None:
        from zarr_core.registry import hookspecs

        self.manager: PluginManager = hookspecs.new_manager()
        self.sources: dict[str, Provider] = {}

    def add(self, source: Provider, plugin: object) -> None:
        """Register a plugin; unknown hooks and arguments are errors."""
        from zarr_core.registry.hookspecs import PluginValidationError

        label = f"{len(self.sources)}: {source}"
        self.sources[label] = source
        try:
            self.manager.register(plugin, label)
            self.manager.check_pending()
            if not self.manager.get_hookcallers(plugin):
                raise PluginValidationError(plugin, "none of its functions is marked with hookimpl")
        except PluginValidationError as error:
            installed = source.distribution != _HERE
            disable = f"zarr_core.config.set(disabled_plugins={{{source.distribution!r}}})"
            reason = f"{error}. To disable it: {disable}" if installed else str(error)
            raise source.failure(reason) from error

    @contextmanager
    def attribute_errors(self, hook: str) -> Iterator[None]:
        """Raise errors of plugins as errors that name the plugin."""
        try:
            yield
        except ZarrError:  # intended for the user
            raise
        except BaseException as error:
            if not is_fault(error):
                raise
            source = self.source_of_error(hook, error)
            raise source.failure(f"{hook} raised {type(error).__name__}: {error}") from error

    def source_of_error(self, hook: str, error: BaseException) -> Provider:
        """The plugin whose implementation of a hook raised an error."""
        labels = {
            getattr(item.function, "__code__", None): item.plugin_name
            for item in getattr(self.manager.hook, hook).get_hookimpls()
        }
        trace = error.__traceback__
        while trace is not None:
            if label := labels.get(trace.tb_frame.f_code):
                return self.sources[label]
            trace = trace.tb_next
        return Provider("hooks", hook, hook, "a plugin")


_registered: list[object] = []
_loaded: dict[Provider, object] = {}
_warned: set[tuple[str, Provider]] = set()
_built: tuple[int, _Plugins | None] = (-1, None)
_building: set[int] = set()  # threads
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
    _Plugins().add(_source_of(plugin), plugin)
    with _lock:
        if any(item is plugin for item in _registered):
            raise ValueError(f"{plugin!r} is already registered")
        _registered.append(plugin)
        config.invalidate_caches()


def unregister_hooks(plugin: object) -> None:
    """Undo :func:`register_hooks`.

    Raises
    ------
    ValueError
        If it is not registered.
    """
    with _lock:
        kept = [item for item in _registered if item is not plugin]
        if len(kept) == len(_registered):
            raise ValueError(f"{plugin!r} is not registered")
        _registered[:] = kept
        config.invalidate_caches()


def supply_extension(
    extension_point: str, definition: ExtensionDefinition
) -> Implementation | None:
    """The result of hook ``zarr_supply_extension``.

    Raises
    ------
    ExtensionLoadError
        If it is not valid for the extension point, or a plugin fails.
    """
    supplied = _call(
        "zarr_supply_extension", extension_point=extension_point, definition=definition
    )
    if supplied is None:
        return None
    from zarr_core.registry.scope import check_override

    try:
        return check_override(
            extension_point, definition.name, supplied, "a zarr_supply_extension hook"
        )
    except TypeError as error:
        source = Provider(
            extension_point, definition.name, repr(supplied), "a zarr_supply_extension hook"
        )
        raise source.failure(str(error)) from error


def select_provider(
    extension_point: str, name: str, providers: Sequence[Provider]
) -> Provider | None:
    """The result of hook ``zarr_select_provider``.

    Raises
    ------
    ExtensionLoadError
        If it is not one of ``providers``, or a plugin fails.
    """
    selected = _call(
        "zarr_select_provider", extension_point=extension_point, name=name, providers=providers
    )
    source = Provider(extension_point, name, repr(selected), "a zarr_select_provider hook")
    return _one_of(providers, selected, source, providers)


def choose_fallback(
    definition: ExtensionDefinition, fallbacks: Sequence[ExtensionDefinition], location: Location
) -> ExtensionDefinition | None:
    """The result of hook ``zarr_choose_fallback``.

    Raises
    ------
    ExtensionLoadError
        If it is not one of ``fallbacks``, or a plugin fails.
    """
    chosen = _call(
        "zarr_choose_fallback", definition=definition, fallbacks=fallbacks, location=location
    )
    source = Provider("data_type", definition.name, repr(chosen), "a zarr_choose_fallback hook")
    return _one_of(fallbacks, chosen, source, [item.name for item in fallbacks])


def _one_of(items: Sequence[T], chosen: Any, source: Provider, names: Sequence[object]) -> T | None:
    """Return what a hook has chosen of several items, which is one of them or None."""
    if chosen is None:
        return None
    for item in items:
        if item == chosen:
            return item
    raise source.failure(f"must be one of {', '.join(map(str, names))}")


def active() -> bool:
    """Whether there are hooks."""
    return _plugins() is not None


def check_metadata(location: Location, document: Mapping[str, JSON]) -> list[ValidationProblem]:
    """The problems that the hooks ``zarr_check_metadata`` report.

    Raises
    ------
    ExtensionLoadError
        If a plugin fails, or returns anything else.
    """
    plugins = _plugins()
    if plugins is None:
        return []
    hook = "zarr_check_metadata"
    # A hook could change the document.
    results = _call(hook, location=location, document=deepcopy(dict(document)))
    with plugins.attribute_errors(hook):  # results can be iterators
        problems = [problem for result in results for problem in result or ()]
    if invalid := [item for item in problems if not isinstance(item, ValidationProblem)]:
        source = Provider("hooks", hook, repr(invalid[0]), f"a {hook} hook")
        raise source.failure("must be a ValidationProblem")
    return problems


def extension_used(location: Location, extension_point: str, name: str, provider: Provider) -> None:
    """Call the hooks ``zarr_extension_used``; an error becomes a warning, once per plugin."""
    plugins = _plugins()
    if plugins is None:
        return
    hook = plugins.manager.hook.zarr_extension_used
    try:
        hook(location=location, extension_point=extension_point, name=name, provider=provider)
    except BaseException as error:
        if not is_fault(error):
            raise
        # An observer must not prevent a node from being opened.
        source = plugins.source_of_error("zarr_extension_used", error)
        message = f"zarr_extension_used of {source} raised {type(error).__name__}: {error}"
        _warn_once("call", source, message)


def _call(hook: str, **arguments: Any) -> Any:
    plugins = _plugins()
    if plugins is None:
        return None
    with plugins.attribute_errors(hook):
        return getattr(plugins.manager.hook, hook)(**arguments)


def _plugins() -> _Plugins | None:
    """The plugins that are not disabled; None if there are none, without importing pluggy."""
    global _built
    key = config.version
    built = _built
    if built[0] == key:
        return built[1]
    thread = threading.get_ident()
    if thread in _building:  # a plugin opens an array while it is imported
        return None
    # Without a lock: another thread that imports the same plugin could wait for this one.
    _building.add(thread)
    try:
        plugins = _build()
    finally:
        _building.discard(thread)
    _built = (key, plugins)
    return plugins


def _build() -> _Plugins | None:
    from zarr_core.registry.registry import everything  # circular import

    installed = [
        (source, plugin) for source in everything("hooks") if (plugin := _load(source)) is not None
    ]
    if not installed and not _registered:
        return None
    plugins = _Plugins()
    for source, plugin in installed:
        plugins.add(source, plugin)
    for plugin in tuple(_registered):
        plugins.add(_source_of(plugin), plugin)
    return plugins


def _load(source: Provider) -> object | None:
    if source not in _loaded:
        try:
            plugin = source.load()
            _loaded.setdefault(source, plugin() if isinstance(plugin, type) else plugin)
        except (Exception, SystemExit) as error:  # of load, or of the constructor
            _warn_once("load", source, f"hooks of {source} are ignored: {error}")
            return None
    return _loaded[source]


def _source_of(plugin: object) -> Provider:
    module = getattr(plugin, "__module__", "") or ""
    name = getattr(plugin, "__qualname__", "") or getattr(plugin, "__name__", "")
    name = name or type(plugin).__qualname__
    return Provider("hooks", name, f"{module}:{name}", _HERE)


def _warn_once(what: str, source: Provider, message: str) -> None:
    if (what, source) not in _warned:
        _warned.add((what, source))
        warn(message)
