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
    from collections.abc import Sequence

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.engine.stored_node import StoredNode
    from zarr_core.interfaces.chunk_grid import ChunkAxis

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
        metadata.data_type.name,
        f"chunks={array.inner_codecs.decoded.shape if array.is_sharded else _lengths(array.axes)}",
    ]
    if array.is_sharded:
        parts.append(f"shards={_lengths(array.axes)}")
    parts += [name for name in array.inner_codecs.names if name != "bytes"]
    parts.append(array.format.name)
    if array.ignored_extensions:
        ignored = ", ".join(definition.name for definition in array.ignored_extensions)
        parts.append(f"read-only: unknown {ignored}")
    return escape_controls(shorten(" ".join(parts), _MAX_LENGTH)) + ">"


def _lengths(axes: Sequence[ChunkAxis]) -> str:
    """The chunk length along each dimension, as a tuple; "varied" if lengths differ."""
    items = ["varied" if axis.uniform is None else str(axis.uniform) for axis in axes]
    return f"({', '.join(items)}{',' * (len(items) == 1)})"
