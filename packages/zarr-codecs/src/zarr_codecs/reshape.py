"""reshape codec (array -> array): chunks in another shape.

Name:           reshape
Specification:  zarr-extensions, codecs/reshape
Configuration:  {"shape": [[0, 1], [2], 3]}
Schema:         schemas/codec/reshape.json
Partial decode: no
Compatible:     zarrs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ArrayToArrayCodec

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import JSON, ArrayRepresentation

    Sizes = tuple[int | tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ReshapeCodec(ArrayToArrayCodec):
    """Change the shape of a chunk; the C order of its elements is kept.

    Parameters
    ----------
    shape : sequence of int or sequence of int
        For each dimension of the encoded chunk: its size in elements, or the dimensions
        of the decoded chunk whose sizes are multiplied, or -1, at most once, for the
        remaining size.
    """

    shape: Sequence[int | Sequence[int]]

    def __post_init__(self) -> None:
        items: Any = self.shape
        if isinstance(items, str):
            raise ValueError(f"shape must be a list, not {items!r}")
        shape = tuple(tuple(size) if isinstance(size, Sequence) else size for size in items)
        sizes = [size for size in shape if not isinstance(size, tuple)]
        dimensions = [axis for size in shape if isinstance(size, tuple) for axis in size]
        if any(type(size) is not int or (size < 1 and size != -1) for size in sizes):
            raise ValueError(f"sizes in shape must be integers of at least 1, or -1, not {sizes}")
        if sizes.count(-1) > 1:
            raise ValueError(f"shape must contain -1 at most once, not {sizes.count(-1)} times")
        if any(type(axis) is not int or axis < 0 for axis in dimensions):
            raise ValueError(
                f"dimensions in shape must be integers of at least 0, not {dimensions}"
            )
        if dimensions != sorted(set(dimensions)):
            raise ValueError(
                f"dimensions in shape must increase, not {dimensions}; "
                "use the codec transpose to change their order"
            )
        object.__setattr__(self, "shape", shape)

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration, with JSON arrays."""
        return {"shape": [list(size) if isinstance(size, tuple) else size for size in self._sizes]}

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the shape.

        Raises
        ------
        ValueError
            If the chunk cannot have this shape.
        """
        return replace(decoded, shape=encoded_shape(self._sizes, decoded.shape))

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return the chunk in the encoded shape, as a view if its strides permit."""
        return array.reshape(encoded_shape(self._sizes, array.shape))

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return the chunk in the decoded shape."""
        return array.reshape(decoded.shape)

    @property
    def _sizes(self) -> Sizes:
        sizes: Any = self.shape
        return sizes  # type: ignore[no-any-return]  # converted in __post_init__


@lru_cache(maxsize=1024)
def encoded_shape(sizes: Sizes, decoded: tuple[int, ...]) -> tuple[int, ...]:
    """Compute the shape of the encoded chunk.

    Parameters
    ----------
    sizes : tuple of int or tuple of int
        As for :class:`ReshapeCodec`.
    decoded : tuple of int
        Shape of the decoded chunk, in elements.

    Raises
    ------
    ValueError
        If the number of elements differs, or a dimension of the encoded chunk does not
        consist of the dimensions that are named for it.
    """
    axes = [axis for size in sizes if isinstance(size, tuple) for axis in size]
    if axes and axes[-1] >= len(decoded):
        raise ValueError(
            f"shape refers to dimension {axes[-1]}, but the chunk has {len(decoded)} dimensions"
        )
    shape = [
        prod(decoded[axis] for axis in size) if isinstance(size, tuple) else size for size in sizes
    ]
    total = prod(decoded)
    if -1 in shape:
        others = prod(size for size in shape if size != -1)
        if not others or total % others:
            raise ValueError(f"cannot replace -1: {total} elements are not divisible by {others}")
        shape[shape.index(-1)] = total // others
    if prod(shape) != total:
        raise ValueError(
            f"shape {shape} has {prod(shape)} elements, but the chunk of shape {decoded} has {total}"
        )
    for index, size in enumerate(sizes):
        if not isinstance(size, tuple) or not size:
            continue
        before = prod(shape[:index]), prod(decoded[: size[0]])
        after = prod(shape[index + 1 :]), prod(decoded[size[-1] + 1 :])
        if before[0] != before[1] or after[0] != after[1]:
            raise ValueError(
                f"dimension {index} of shape {shape} does not match the dimensions {list(size)} of "
                f"{list(decoded)}: {before[0]} and {before[1]} elements precede them, "
                f"{after[0]} and {after[1]} follow"
            )
    return tuple(shape)
