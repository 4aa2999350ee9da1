"""transpose codec (array -> array): a permutation of the dimensions.

Name:           transpose
Specification:  v3 codecs, "Transpose codec", version 1.0
Configuration:  {"order": [1, 0]}
Schema:         schemas/codec/transpose.json
Partial decode: yes
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec, Box, Outer, Points

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from zarr_core.extension import JSON, Selection


@dataclass(frozen=True, slots=True)
class TransposeCodec(ArrayToArrayCodec):
    """Permute the dimensions; never copies.

    Parameters
    ----------
    order : sequence of int
        Dimension ``i`` of the encoded chunk is dimension ``order[i]`` of the
        decoded one.
    """

    order: Sequence[int]

    def __post_init__(self) -> None:
        order: Any = self.order
        if isinstance(order, str):
            raise ValueError(
                f"order must list the dimensions, not be {order!r}; "
                '"F" of two dimensions is [1, 0], of three [2, 1, 0]'
            )
        order = tuple(order)
        if any(type(axis) is not int for axis in order) or sorted(order) != list(range(len(order))):
            raise ValueError(f"order must be a permutation of 0, 1, ..., n-1, not {list(order)}")
        object.__setattr__(self, "order", order)

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration, with a JSON array."""
        return {"order": list(self.order)}

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Permute the shape.

        Raises
        ------
        ValueError
            If the chunk has another number of dimensions.
        """
        if len(self.order) != len(decoded.shape):
            raise ValueError(
                f"order {list(self.order)} is for {len(self.order)} dimensions, "
                f"the chunk has {len(decoded.shape)}"
            )
        return replace(decoded, shape=self._permuted(decoded.shape))

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """View the chunk with its dimensions permuted."""
        return array.transpose(self.order)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """View the chunk with its dimensions as they were."""
        inverse = sorted(range(len(self.order)), key=self.order.__getitem__)
        return array.transpose(inverse)

    def encoded_part(
        self, selection: Selection, part: np.ndarray[Any, Any]
    ) -> tuple[Selection, np.ndarray[Any, Any]]:
        """Permute the selection and the view of the memory."""
        if isinstance(selection, Points):
            return Points(self._permuted(selection.index)), part
        if isinstance(selection, Outer):
            return Outer(self._permuted(selection.index)), part.transpose(self.order)
        return Box(self._permuted(selection.index)), part.transpose(self.order)

    def _permuted(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(items[axis] for axis in self.order)
