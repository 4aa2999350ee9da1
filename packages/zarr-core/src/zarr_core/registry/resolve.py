"""The rule by which a name in metadata becomes code."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, ExtensionError
from zarr_core.metadata.problem import Problem
from zarr_core.registry import builtin, hints, hooks, registry, schemas, scope
from zarr_core.registry.points import kind_called
from zarr_core.registry.provider import Implementation, is_fault

if TYPE_CHECKING:
    from collections.abc import Hashable

    from zarr_core.registry.provider import Provider


def implementation(
    kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = ""
) -> Implementation | None:
    """The code for a definition: the whole rule, and nothing else decides.

    Whether an unknown extension may be left out depends on its kind and on
    ``must_understand``.  An extension that is known, but is broken or refuses its
    configuration, is never left out.

    Returns
    -------
    Implementation or None
        None if the extension is unknown and may be left out.

    Raises
    ------
    UnknownExtensionError
        If it is unknown and may not be left out.
    ExtensionConflictError
        If several distributions provide it and none was chosen.
    ExtensionLoadError
        If its code cannot be imported or is not of its kind.
    """
    name, point = definition.name, kind_called(kind)
    # 1. what this call, or a block around it, was given
    if given := scope.lookup(kind, name):
        return given
    known = _known()
    if found := known.get((kind, name)):
        return found
    place = _place(where, pointer)
    if provider := chosen(kind, name, place):  # 2, 3, 4
        found = known[kind, name] = Implementation(provider, provider.load())
        return found
    # 5. what a hook supplies for a name that nobody registered
    if supplied := hooks.supply_extension(kind, definition):
        return supplied
    # 6. unknown: the kind's own rule
    if point.unknown != "refuse" and not definition.must_understand:
        return None
    raise hints.unknown(kind, name, place)


def chosen(kind: str, name: str, where: str = "") -> Provider | None:
    """The provider of an extension that is installed; steps 2 to 4 of the rule.

    Returns
    -------
    Provider or None
        None if nobody provides it.
    """
    return (
        registry.preferred(kind, name, where)  # 2. what the user's settings choose
        or builtin.provider(kind, name)  # 3. what core itself has
        or registry.only(kind, name)  # 4. what is installed, if it is one
    )


def resolve(
    kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = ""
) -> type[Any] | None:
    """The class for a definition, by the rule of :func:`implementation`.

    Parameters
    ----------
    kind : str
        Kind of extension, such as ``"codec"``.
    definition : ExtensionDefinition
        What the document says.
    where, pointer : str
        Node, and JSON pointer of the definition in its document; for errors.

    Returns
    -------
    type or None
        None if the extension is unknown and may be left out.
    """
    found = implementation(kind, definition, where, pointer)
    return None if found is None else found.extension


def find(kind: str, name: str, where: str = "") -> type[Any]:
    """The class that a name stands for, by the rule of :func:`implementation`."""
    found = implementation(kind, ExtensionDefinition(name), where)
    assert found is not None  # only what need not be understood is left out
    return found.extension


def make(
    kind: str,
    definition: ExtensionDefinition,
    where: str = "",
    pointer: str = "",
    complete: bool = True,
) -> Any | None:
    """Make the extension that a definition describes.

    Its configuration is checked against the extension's JSON Schema first.

    Parameters
    ----------
    kind, definition, where, pointer
        As for :func:`resolve`.  An extension that makes those inside it leaves out
        ``where``, and counts ``pointer`` from its own definition.  Not for formats,
        stores and hooks, which have no definitions.
    complete : bool
        False for a definition that somebody gave for a new node: members that a
        document must have may be left to the code.  Holds for the extensions
        inside it too.

    Returns
    -------
    instance of the kind's interface, or None
        None if the extension is unknown and may be left out.

    Raises
    ------
    ExtensionConfigurationError
        If the configuration is refused, by the schema or by the code.
    ExtensionError
        As for :func:`implementation`.
    """
    if not where:  # an extension makes those inside it; it knows its own definition only
        where, outer, strict = _around.get()
        pointer, complete = outer + pointer, complete and strict
    found = implementation(kind, definition, where, pointer)
    if found is None:
        return None
    provider, extension = found
    place = _place(where, pointer)
    if problems := schemas.problems(provider, definition, pointer, complete):
        raise ExtensionConfigurationError(kind, definition.name, place, problems)
    token = _around.set((where, pointer, complete))
    try:
        made = extension.from_definition(definition)
    except ExtensionConfigurationError as error:
        if error.where:  # of an extension inside this one
            raise
        located = [problem.below(pointer) for problem in error.problems]
        raise ExtensionConfigurationError(
            error.kind, error.extension_name, place, located
        ) from error
    except ExtensionError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        # Whatever the code of an author raises about stored data.
        problem = Problem(f"{pointer}/configuration", reason(error))
        raise ExtensionConfigurationError(kind, definition.name, place, [problem]) from error
    finally:
        _around.reset(token)
    if not isinstance(made, kind_called(kind).interface_class()):
        raise provider.failure(f"from_definition gave {made!r}, which is no {kind}")
    hooks.extension_used(where, kind, definition.name, provider)
    return made


def require(kind: str, definition: ExtensionDefinition, where: str = "", pointer: str = "") -> Any:
    """As :func:`make`, for the kinds that are never left out."""
    made = make(kind, definition, where, pointer)
    assert made is not None, f"{kind} {definition.name}: of a kind that is never left out"
    return made


def state() -> Hashable:
    """A value that is equal as long as the same names give the same code.

    What was made from definitions may be remembered together with it.
    """
    return (*registry.state(), scope.state())


# Node and pointer of the definition that is being made; whether it must be complete.
_around: ContextVar[tuple[str, str, bool]] = ContextVar(
    "zarr_core_definition", default=("", "", True)
)

_memory: tuple[Hashable, dict[tuple[str, str], Implementation]] = ((), {})


def _known() -> dict[tuple[str, str], Implementation]:
    global _memory
    now = registry.state()
    memory = _memory
    if memory[0] != now:
        memory = _memory = (now, {})
    return memory[1]


def _place(where: str, pointer: str) -> str:
    return f"{where} at {pointer}" if where and pointer else where or pointer


def reason(error: BaseException) -> str:
    """What to say of an error in the code of an extension: its class unless that says nothing."""
    message = str(error)
    if message and isinstance(error, (ValueError, TypeError)):
        return message
    return f"{type(error).__name__}: {message}"
