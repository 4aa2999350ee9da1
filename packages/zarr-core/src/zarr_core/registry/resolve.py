"""Resolve a definition in metadata to a class, and create the extension.

Specification: v3.1, "Extension points".  Fallbacks of data types: draft of December 2022,
"Data types"; version 3.0 removed them.
"""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionError,
    UnknownExtensionError,
    ValidationProblem,
    ZarrError,
    is_ordinary_error,
    reason,
)
from zarr_core.location import NO_LOCATION, Location
from zarr_core.messages import quoted, warn_once
from zarr_core.registry import discovery, hints, hooks, schemas
from zarr_core.registry.extension_points import get_extension_point
from zarr_core.registry.overrides import cache_key, overrides
from zarr_core.registry.provider import DISTRIBUTION, is_disabled, normalize_name, registry_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.format import Format
    from zarr_core.registry.provider import Provider


def find_class(extension_point: str, name: str, location: Location = NO_LOCATION) -> type[Any]:
    """Return the class for a name; raises ExtensionLoadError, or as :func:`require_provider`."""
    extension: type[Any] = require_provider(extension_point, name, location).load()
    return extension


def require_provider(extension_point: str, name: str, location: Location = NO_LOCATION) -> Provider:
    """Return the provider for a name; raises UnknownExtensionError, or as :func:`find_provider`."""
    provider = find_provider(extension_point, ExtensionDefinition(name), location)
    if provider is None:
        raise hints.unknown_extension_error(extension_point, name, location)
    return provider


def find_provider(
    extension_point: str, definition: ExtensionDefinition, location: Location = NO_LOCATION
) -> Provider | None:
    """Find the provider for a definition, without import; None if it is unknown.

    An UnknownExtensionError if the settings select a distribution without it, an
    ExtensionConflictError if several distributions provide it and none is selected.
    """
    name = definition.name
    if provider := overrides.get().get((extension_point, name)):  # 1. overrides
        return provider
    choice = config.settings.providers.get(f"{extension_point}.{name}", "")  # 2. the settings
    core = None if choice else discovery.core_provider(extension_point, name)  # 3. the core
    if core:
        return core
    cached: Provider | None = registry_cache.get(key := (extension_point, name, config.version))
    if cached:
        return cached
    candidates = discovery.providers(extension_point, name)  # 4. installed distributions
    if not (selected := _selected(candidates, choice)):  # 5. hooks
        candidates += [
            provider
            for provider in hooks.supplied(extension_point, definition)
            if not is_disabled(provider.distribution)
        ]
        selected = _selected(candidates, choice)
    if choice and not selected:
        raise _not_provided(extension_point, name, location, choice, candidates)
    if len(selected) > 1:
        raise ExtensionConflictError(extension_point, name, map(str, selected))
    if selected and selected[0].extension is None:  # hooks supply classes for one configuration
        registry_cache.put(key, selected[0])
    return selected[0] if selected else None


def _selected(candidates: list[Provider], choice: str) -> list[Provider]:
    """The providers that the settings select; all without a choice."""
    if not choice:
        return candidates
    wanted = normalize_name(choice)
    return [item for item in candidates if normalize_name(item.distribution) == wanted]


def _not_provided(
    extension_point: str, name: str, location: Location, choice: str, candidates: list[Provider]
) -> UnknownExtensionError:
    others = ", ".join(dict.fromkeys(item.distribution for item in candidates))
    hint = (
        f"The setting providers['{extension_point}.{name}'] selects {choice!r}, which is not "
        "installed, is disabled or does not provide it; "
        + (f"it is provided by {others}." if others else "no distribution does.")
    )
    return UnknownExtensionError(extension_point, name, location, hint=hint)


def create_extension(
    extension_point: str,
    definition: ExtensionDefinition,
    location: Location = NO_LOCATION,
    complete: bool = True,
) -> Any:
    """Create the extension of a definition, after a check of its configuration with its schema.

    Whether an unknown extension is ignored depends on the extension point and on
    ``must_understand``.  An installed extension that is broken or has an invalid configuration
    is never ignored.

    Parameters
    ----------
    extension_point : str
        Such as ``"codec"``; not ``"format"``, ``"store"`` or ``"hooks"``, which have no
        definitions.
    definition : ExtensionDefinition
        The definition in the metadata.
    location : Location
        Location of the definition, for errors.  An extension that creates inner extensions passes
        a location without store, with the pointer relative to its own definition.
    complete : bool
        False for the argument of a new node: required members can be missing, also in inner
        extensions.

    Returns
    -------
    instance of the interface, or None
        None if the extension is unknown and ignored: only of the extension points ``codec``,
        ``storage_transformer`` and ``extension``, and only if ``must_understand`` is false.

    Raises
    ------
    ExtensionConfigurationError
        If the configuration is invalid.
    UnknownExtensionError
        If it is unknown and must be understood.
    ExtensionConflictError
        If several distributions provide it and none is selected.
    """
    if location.store is None:  # an inner extension
        outer, strict = _enclosing.get()
        location, complete = outer.at(location.pointer), complete and strict
    provider = find_provider(extension_point, definition, location)
    if provider is None:
        point = get_extension_point(extension_point)
        if definition.must_understand or not point.can_be_ignored:
            raise hints.unknown_extension_error(extension_point, definition.name, location)
        return None
    extension = provider.load()
    definition, problems = schemas.validate(provider, definition, location, complete)
    if problems:
        raise _invalid(provider, definition.name, location, problems)
    token = _enclosing.set((location, complete))
    try:
        instance = extension.from_definition(definition)
    except BaseException as error:
        about_definition = _about_definition(error, provider, definition, location, complete)
        if about_definition is error:
            raise
        raise about_definition from error
    finally:
        _enclosing.reset(token)
    if not isinstance(instance, extension) and not isinstance(
        instance, get_extension_point(extension_point).interface_class()
    ):
        raise provider.failure(
            f"from_definition returned {instance!r}, which is not a {extension_point}"
        )
    return instance


def _about_definition(
    error: BaseException,
    provider: Provider,
    definition: ExtensionDefinition,
    location: Location,
    complete: bool,
) -> BaseException:
    """An error of ``from_definition`` as one about the definition; others are not changed."""
    name, pointer = definition.name, location.pointer
    if isinstance(error, UnknownExtensionError) and not error.location:
        return UnknownExtensionError(
            error.extension_point, error.extension_name, location, error.known, error.hint
        )
    if isinstance(error, ExtensionConfigurationError) and not error.location:
        problems = [problem.below(pointer) for problem in error.problems]
        if (error.extension_point, error.extension_name) == (provider.extension_point, name):
            return _invalid(provider, name, location, problems)
        return ExtensionConfigurationError(
            error.extension_point, error.extension_name, location, problems
        )
    if isinstance(error, ExtensionError) or not is_ordinary_error(error):
        return error
    # Members that the schema requires can be missing.
    problems = [] if complete else schemas.problems(provider, definition, pointer)
    problems = problems or [ValidationProblem(f"{pointer}/configuration", reason(error))]
    return _invalid(provider, name, location, problems)


def _invalid(
    provider: Provider, name: str, location: Location, problems: Sequence[ValidationProblem]
) -> ExtensionConfigurationError:
    """The error about a configuration; names the distribution, and others with the same name."""
    extension_point = provider.extension_point
    origin = "" if provider.distribution == DISTRIBUTION else provider.origin
    hint = hints.other_providers(extension_point, name, provider.distribution)
    return ExtensionConfigurationError(extension_point, name, location, problems, origin, hint)


def must_be_complete() -> bool:
    """False while an extension of :func:`create_extension` with ``complete=False`` is created."""
    return _enclosing.get()[1]


def create_data_type(
    definition: ExtensionDefinition,
    fallbacks: Sequence[ExtensionDefinition] = (),
    location: Location = NO_LOCATION,
) -> tuple[DataType, ExtensionDefinition | None]:
    """Create a data type, or if it is unknown the first known fallback, which is the second result."""
    if find_provider("data_type", definition, location):
        return create_extension("data_type", definition, location), None
    policy = config.settings.fallback
    usable = (item for item in fallbacks if find_provider("data_type", item))
    used = None if policy == "error" else next(usable, None)
    if used is None:
        raise hints.unknown_extension_error("data_type", definition.name, location)
    data_type: DataType = create_extension("data_type", used, location)
    if policy == "warn":
        warn_once(
            f"{str(location) or 'array'}: the data type {quoted(definition.name)} is not installed; "
            f"its elements are read as {quoted(used.name)}, and the array is read-only. "
            "To disable this warning: zarr_core.config.set(fallback='use')",
        )
    return data_type, used


# --- formats ---


def format_named(name: str | int) -> Format:
    """Return the format of a name (``"v3"``) or version (``3``); raises as :func:`find_class`."""
    key = ("format", type(name), str(name), cache_key())
    format_: Format | None = registry_cache.get(key)
    if format_ is None:
        provider = format_provider(name)
        extension = provider.load()
        try:
            format_ = registry_cache.put(key, extension())
        except BaseException as error:
            if isinstance(error, ZarrError) or not is_ordinary_error(error):
                raise
            raise provider.failure(reason(error)) from error
    return format_


def format_provider(name: str | int) -> Provider:
    """Return the provider of a format; raises as :func:`require_provider`."""
    if not isinstance(name, (int, str)):
        raise TypeError(f"zarr_format must be the number or the name of a format, not {name!r}")
    return require_provider("format", f"v{name}" if isinstance(name, int) else name)


def formats_without(name: str) -> Iterator[Format]:
    """Iterate over all installed formats except one."""
    for other in discovery.usable_names("format"):
        if other != name:
            with suppress(ExtensionError):  # a broken format does not affect others
                yield format_named(other)


# The definition whose extension is created, and whether it must be complete.
_enclosing: ContextVar[tuple[Location, bool]] = ContextVar(
    "zarr_core_definition", default=(NO_LOCATION, True)
)
