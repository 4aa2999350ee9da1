"""Arrays in one line; the display extension, which shows nodes in other ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, ZarrError, is_ordinary_error
from zarr_core.interfaces.display import Display
from zarr_core.messages import escape_controls, shorten, warn_once
from zarr_core.registry import resolve
from zarr_core.registry.overrides import override_extensions

if TYPE_CHECKING:
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.engine.stored_node import StoredNode
    from zarr_core.interfaces.chunk_grid import ChunkAxis

_FIELDS = 4  # shown fields of a structured data type
_LENGTHS = 5  # shown chunk lengths, if they differ
_MAX_LENGTH = 1000  # characters of a line

# must_understand=False: only an extension that cannot be used raises, not a missing one.
_DEFINITION = ExtensionDefinition("default", must_understand=False)


def displayed(node: StoredNode[Any], method: str, *arguments: Any) -> Any:
    """The result of a method of the display extension, or of Display, which shows text."""
    source = "the display extension"
    with override_extensions(node.extensions):
        try:
            provider = resolve.find_provider("display", _DEFINITION)
            if provider is not None:
                source = f"the display extension {provider}"
                return getattr(provider.load()(), method)(*arguments)
        except BaseException as error:
            # A display that fails must not prevent a node from being shown.
            expected = isinstance(error, ZarrError) and not isinstance(error, ExtensionError)
            if expected or not is_ordinary_error(error):
                raise
            message = f"{source} raised {type(error).__name__}: {error}"
            if isinstance(error, ExtensionError):  # says which extension
                source = message = str(error)
            warn_once(f"{message}; text is shown instead", source)
        return getattr(Display(), method)(*arguments)


def array_line(array: StoredArray) -> str:
    """An array in one line; does not access the store."""
    metadata = array.metadata
    names = metadata.dimension_names or (None,) * len(metadata.shape)
    shape = ", ".join(
        f"{length}" if name is None else f"{name}: {length}"
        for name, length in zip(names, metadata.shape, strict=True)
    )
    parts = [
        f"<Array {array.store}{array.path and f' {array.name}'}",
        f"({shape})",
        data_type_text(array),
        f"chunks={_in_line(chunk_lengths(array))}",
    ]
    if array.is_sharded:
        parts.append(f"shards={_in_line(stored_lengths(array))}")
    parts += [name for name in array.inner_codecs.names if name != "bytes"]
    parts.append(array.format.name)
    if array.ignored_extensions:
        ignored = ", ".join(definition.name for definition in array.ignored_extensions)
        parts.append(f"read-only: unknown {ignored}")
    return escape_controls(shorten(" ".join(parts), _MAX_LENGTH)) + ">"


def data_type_text(array: StoredArray) -> str:
    """The data type, with its fields or length if configured."""
    definition, dtype = array.metadata.data_type, array.resolved.dtype
    if not definition.configuration:
        return definition.name
    if dtype.names is None:
        return f"{definition.name} {dtype.str.lstrip('<>|=')}"
    fields = ", ".join(dtype.names[:_FIELDS])
    return f"{definition.name} ({fields}{', ...' if len(dtype.names) > _FIELDS else ''})"


def chunk_lengths(array: StoredArray) -> tuple[int | str, ...]:
    """The chunk length along each dimension; if lengths differ, the first ones as text."""
    return array.inner_codecs.decoded.shape if array.is_sharded else stored_lengths(array)


def stored_lengths(array: StoredArray) -> tuple[int | str, ...]:
    """As :func:`chunk_lengths`, of shards if there are any."""
    return tuple(map(_length, array.axes))


def _length(axis: ChunkAxis) -> int | str:
    if axis.uniform is not None:
        return axis.uniform
    shown = [str(axis.length(chunk)) for chunk in range(min(axis.count, _LENGTHS))]
    more = f", ... {axis.count} in all" if axis.count > _LENGTHS else ""
    return f"({', '.join(shown)}{more})"


def _in_line(shape: tuple[int | str, ...]) -> str:
    items = ", ".join(map(str, shape))
    return f"({items},)" if len(shape) == 1 else f"({items})"
