"""Resolving a definition in metadata: finding its class, and creating the extension."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, ExtensionError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry import builtin, hints, hooks, registry, schemas, scope
from zarr_core.registry.extension_points import extension_point
from zarr_core.registry.provider import Implementation, is_fault

if TYPE_CHECKING:
    from collections.abc import Hashable

    from zarr_core.registry.provider import Provider


def implementation(
    kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = ""
) -> Implementation | None:
    """The class for a definition and its provider.

    Whether an unknown extension is ignored depends on its kind and on
    ``must_understand``.  An extension that is installed, but is broken or has an invalid
    configuration, is never ignored.

    Returns
    -------
    Implementation or None
        None if the extension is unknown and ignored.

    Raises
    ------
    UnknownExtensionError
        If it is unknown and must be understood.
    ExtensionConflictError
        If several distributions provide it and none is selected.
    ExtensionLoadError
        If its class cannot be imported or is not of its kind.
    """
    point = extension_point(kind)
    if found := lookup(kind, definition, where, pointer):
        return found
    # 6. unknown: depends on the kind
    if point.unknown != "error" and not definition.must_understand:
        return None
    raise hints.unknown(kind, definition.name, _location(where, pointer))


def lookup(
    kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = ""
) -> Implementation | None:
    """The class for a definition and its provider, or None if it is unknown; steps 1 to 5."""
    name = definition.name
    # 1. overrides
    if override := scope.lookup(kind, name):
        return override
    cache = _current_cache()
    if found := cache.get((kind, name)):
        return found
    if provider := chosen(kind, name, _location(where, pointer)):  # 2, 3, 4
        found = cache[kind, name] = Implementation(provider, provider.load())
        return found
    # 5. hooks
    return hooks.supply_extension(kind, definition)


def chosen(kind: str, name: str, where: str = "") -> Provider | None:
    """The provider of an installed extension, or None; steps 2 to 4 of :func:`implementation`."""
    return (
        registry.preferred(kind, name, where)  # 2. the selection in the settings
        or builtin.provider(kind, name)  # 3. the core
        or registry.only(kind, name)  # 4. the only installed provider
    )


def resolve(
    kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = ""
) -> type[Any] | None:
    """The class for a definition, as :func:`implementation` finds it.

    Parameters
    ----------
    kind : str
        The kind of extension, such as ``"codec"``.
    definition : ExtensionDefinition
        The definition in the metadata.
    where, pointer : str
        Node, and JSON pointer of the definition in its metadata document; for errors.

    Returns
    -------
    type or None
        None if the extension is unknown and ignored.
    """
    found = implementation(kind, definition, where, pointer)
    return None if found is None else found.extension


def find(kind: str, name: str, where: str = "") -> type[Any]:
    """The class for a name, as :func:`implementation` finds it."""
    found = implementation(kind, ExtensionDefinition(name), where)
    assert found is not None  # only definitions with must_understand false are ignored
    return found.extension


def make(
    kind: str,
    definition: ExtensionDefinition,
    where: str = "",
    pointer: str = "",
    complete: bool = True,
) -> Any | None:
    """Create the extension of a definition.

    Its configuration is checked against the JSON Schema of the extension first.

    Parameters
    ----------
    kind, definition, where, pointer
        As for :func:`resolve`.  An extension that creates inner extensions omits
        ``where``, and passes a ``pointer`` relative to its own definition.  Not for formats,
        stores and hooks, which have no definitions.
    complete : bool
        False for the argument of a new node: required members can be missing, also in
        inner extensions.

    Returns
    -------
    instance of the interface, or None
        None if the extension is unknown and ignored.

    Raises
    ------
    ExtensionConfigurationError
        If the configuration is invalid.
    ExtensionError
        As for :func:`implementation`.
    """
    if not where:  # an inner extension
        where, outer, strict = _enclosing.get()
        pointer, complete = outer + pointer, complete and strict
    found = implementation(kind, definition, where, pointer)
    if found is None:
        return None
    provider, extension = found
    location = _location(where, pointer)
    if problems := schemas.problems(provider, definition, pointer, complete):
        raise ExtensionConfigurationError(kind, definition.name, location, problems)
    token = _enclosing.set((where, pointer, complete))
    try:
        made = extension.from_definition(definition)
    except ExtensionConfigurationError as error:
        if error.where:  # from an inner extension
            raise
        problems = [problem.below(pointer) for problem in error.problems]
        raise ExtensionConfigurationError(
            error.kind, error.extension_name, location, problems
        ) from error
    except ExtensionError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        # Members that the schema requires can be missing.
        problems = [] if complete else schemas.problems(provider, definition, pointer)
        problems = problems or [ValidationProblem(f"{pointer}/configuration", reason(error))]
        raise ExtensionConfigurationError(kind, definition.name, location, problems) from error
    finally:
        _enclosing.reset(token)
    if not isinstance(made, extension_point(kind).interface_class()):
        raise provider.failure(f"from_definition returned {made!r}, which is not a {kind}")
    hooks.extension_used(where, kind, definition.name, provider)
    return made


def require(kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = "") -> Any:
    """Call :func:`make` for a kind that is never ignored."""
    made = make(kind, definition, where, pointer)
    assert made is not None, f"{kind} {definition.name}: of a kind that is never ignored"
    return made


def cache_key() -> Hashable:
    """A value that changes whenever a name can resolve to another class.

    It is part of the key of caches of extensions.
    """
    return (*registry.cache_key(), scope.cache_key())


# Node and pointer of the definition whose extension is created; whether it must be complete.
_enclosing: ContextVar[tuple[str, str, bool]] = ContextVar(
    "zarr_core_definition", default=("", "", True)
)

_cache: tuple[Hashable, dict[tuple[str, str], Implementation]] = ((), {})


def _current_cache() -> dict[tuple[str, str], Implementation]:
    global _cache
    key = registry.cache_key()
    cache = _cache
    if cache[0] != key:
        cache = _cache = (key, {})
    return cache[1]


def _location(where: str, pointer: str) -> str:
    return f"{where} at {pointer}" if where and pointer else where or pointer


def reason(error: BaseException) -> str:
    """The message of an error in the code of an extension, with its class unless that is usual."""
    message = str(error)
    if message and isinstance(error, (ValueError, TypeError)):
        return message
    return f"{type(error).__name__}: {message}"
