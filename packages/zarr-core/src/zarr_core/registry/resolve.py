"""Resolve a definition in metadata to a class, and create the extension.

Specification: v3.1, "Extension points".  Fallbacks of data types: draft of December 2022,
"Data types"; version 3.0 removed them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, ExtensionError, UnknownExtensionError
from zarr_core.location import NO_LOCATION, Location
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.printable import quoted
from zarr_core.registry import discovery, hints, hooks, registry, schemas, scope
from zarr_core.registry.extension_points import get_extension_point
from zarr_core.registry.provider import Implementation, is_fault
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.data_type import DataType
    from zarr_core.registry.provider import Provider


def find_implementation(
    extension_point: str, definition: ExtensionDefinition, location: Location = NO_LOCATION
) -> Implementation | None:
    """The class for a definition and its provider; None if it is unknown and ignored.

    Whether an unknown extension is ignored depends on the extension point and on
    ``must_understand``.  An installed extension that is broken or has an invalid configuration
    is never ignored.

    Raises
    ------
    UnknownExtensionError
        If it is unknown and must be understood.
    ExtensionConflictError
        If several distributions provide it and none is selected.
    ExtensionLoadError
        If its class cannot be imported or is not valid for the extension point.
    """
    point = get_extension_point(extension_point)
    if found := lookup(extension_point, definition, location):
        return found
    # 6. unknown: depends on the extension point
    if point.unknown != "error" and not definition.must_understand:
        return None
    raise hints.unknown(extension_point, definition.name, location)


def lookup(
    extension_point: str, definition: ExtensionDefinition, location: Location = NO_LOCATION
) -> Implementation | None:
    """The class for a definition and its provider, or None if it is unknown; steps 1 to 5."""
    name = definition.name
    # 1. overrides
    if override := scope.lookup(extension_point, name):
        return override
    cache = _current_cache()
    if found := cache.get((extension_point, name)):
        return found
    if provider := chosen(extension_point, name, location):  # 2, 3, 4
        found = cache[extension_point, name] = Implementation(provider, provider.load())
        return found
    # 5. hooks
    return hooks.supply_extension(extension_point, definition)


def chosen(extension_point: str, name: str, location: Location = NO_LOCATION) -> Provider | None:
    """The provider of an installed extension, or None; steps 2 to 4 of :func:`lookup`."""
    return (
        registry.preferred(extension_point, name, location)  # 2. the selection in the settings
        or discovery.core_provider(extension_point, name)  # 3. the core
        or registry.only(extension_point, name)  # 4. the only installed provider
    )


def resolve(
    extension_point: str, definition: ExtensionDefinition, location: Location = NO_LOCATION
) -> type[Any] | None:
    """The class for a definition, as from :func:`find_implementation`.

    ``location`` is that of the definition, for errors.
    """
    found = find_implementation(extension_point, definition, location)
    return None if found is None else found.extension


def find(extension_point: str, name: str, location: Location = NO_LOCATION) -> type[Any]:
    """The class for a name, as from :func:`find_implementation`."""
    found = find_implementation(extension_point, ExtensionDefinition(name), location)
    assert found is not None  # only definitions with must_understand false are ignored
    return found.extension


def create_extension(
    extension_point: str,
    definition: ExtensionDefinition,
    location: Location = NO_LOCATION,
    complete: bool = True,
) -> Any | None:
    """Create the extension of a definition, after a check of its configuration with its schema.

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
        None if the extension is unknown and ignored.

    Raises
    ------
    ExtensionConfigurationError
        If the configuration is invalid.
    ExtensionError
        As for :func:`find_implementation`.
    """
    if location.store is None:  # an inner extension
        outer, strict = _enclosing.get()
        location, complete = outer.at(location.pointer), complete and strict
    found = find_implementation(extension_point, definition, location)
    if found is None:
        return None
    provider, extension = found
    pointer = location.pointer
    if problems := schemas.problems(provider, definition, pointer, complete):
        # Nonstandard forms are read if they are stored, and in arguments, which are stored as valid.
        is_lenient = not (complete and isinstance(location.store, str | None))
        standard = is_lenient and schemas.standard_form(provider, definition, location, complete)
        if not standard:
            raise _invalid(provider, location, problems)
        definition = standard
    token = _enclosing.set((location, complete))
    try:
        made = extension.from_definition(definition)
    except ExtensionConfigurationError as error:
        if error.location:  # from an inner extension
            raise
        problems = [problem.below(pointer) for problem in error.problems]
        if (error.extension_point, error.extension_name) == (extension_point, definition.name):
            raise _invalid(provider, location, problems) from error
        raise ExtensionConfigurationError(
            error.extension_point, error.extension_name, location, problems
        ) from error
    except UnknownExtensionError as error:
        if error.location:  # from an inner extension
            raise
        raise UnknownExtensionError(
            error.extension_point, error.extension_name, location, error.known, error.hint
        ) from error
    except ExtensionError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        # Members that the schema requires can be missing.
        problems = [] if complete else schemas.problems(provider, definition, pointer)
        problems = problems or [ValidationProblem(f"{pointer}/configuration", reason(error))]
        raise _invalid(provider, location, problems) from error
    finally:
        _enclosing.reset(token)
    if not isinstance(made, get_extension_point(extension_point).interface_class()):
        raise provider.failure(
            f"from_definition returned {made!r}, which is not a {extension_point}"
        )
    hooks.extension_used(location, extension_point, definition.name, provider)
    return made


def _invalid(
    provider: Provider, location: Location, problems: Sequence[ValidationProblem]
) -> ExtensionConfigurationError:
    """The error about a configuration; names the distribution, and others with the same name."""
    extension_point, name = provider.extension_point, provider.name
    origin = "" if provider.distribution == discovery.DISTRIBUTION else provider.origin
    hint = hints.other_providers(extension_point, name, provider.distribution)
    return ExtensionConfigurationError(extension_point, name, location, problems, origin, hint)


def must_be_complete() -> bool:
    """False while an extension of :func:`create_extension` with ``complete=False`` is created."""
    return _enclosing.get()[1]


def require_extension(
    extension_point: str, definition: ExtensionDefinition, location: Location = NO_LOCATION
) -> Any:
    """Call :func:`create_extension` for an extension point whose extensions are never ignored."""
    made = create_extension(extension_point, definition, location)
    assert made is not None, (
        f"{extension_point} {definition.name}: such an extension is never ignored"
    )
    return made


def create_data_type(
    definition: ExtensionDefinition,
    fallbacks: Sequence[ExtensionDefinition] = (),
    location: Location = NO_LOCATION,
) -> tuple[DataType, ExtensionDefinition | None]:
    """Create a data type, or a fallback if it is unknown and the setting ``fallback`` permits it.

    The hook ``zarr_choose_fallback`` selects the fallback, by default the first that is installed.
    The second result is the fallback that is used, or None; with a fallback, the array must be
    read-only.

    Raises
    ------
    UnknownExtensionError
        If neither the data type nor a permitted fallback is installed.
    ExtensionError
        If the data type is installed but broken, or its configuration is invalid.

    Warns
    -----
    UserWarning
        Once per node, if a fallback is used and the setting is ``"warn"``.
    """
    try:
        resolve("data_type", definition, location)
    except UnknownExtensionError:
        policy = config.settings.fallback
        usable = [] if policy == "error" else [item for item in fallbacks if _is_known(item)]
        if not usable:
            raise
    else:
        return _make(definition, location), None
    used = hooks.choose_fallback(definition, usable, location) or usable[0]
    data_type = _make(used, location)
    text = str(location) or "array"
    if policy == "warn" and (text, definition.name) not in _warned:
        _warned.add((text, definition.name))
        warn(
            f"{text}: the data type {quoted(definition.name)} is not installed; "
            f"its elements are read as {quoted(used.name)}, and the array is read-only. "
            "To disable this warning: zarr_core.config.set(fallback='use')",
        )
    return data_type, used


# The definition whose extension is created, and whether it must be complete.
_enclosing: ContextVar[tuple[Location, bool]] = ContextVar(
    "zarr_core_definition", default=(NO_LOCATION, True)
)

_cache: tuple[int, dict[tuple[str, str], Implementation]] = (-1, {})


def _current_cache() -> dict[tuple[str, str], Implementation]:
    global _cache
    cache = _cache
    if cache[0] != config.version:
        cache = _cache = (config.version, {})
    return cache[1]


def reason(error: BaseException) -> str:
    """The message of an error in an extension; with the class unless ValueError or TypeError."""
    message = str(error)
    if message and isinstance(error, (ValueError, TypeError)):
        return message
    return f"{type(error).__name__}: {message}"


_warned: set[tuple[str, str]] = set()  # node and data type of a fallback


def _is_known(definition: ExtensionDefinition) -> bool:
    try:
        resolve("data_type", definition)
    except UnknownExtensionError:
        return False
    return True


def _make(definition: ExtensionDefinition, location: Location) -> DataType:
    data_type: DataType | None = create_extension("data_type", definition, location)
    assert data_type is not None  # a data type is never ignored
    return data_type
