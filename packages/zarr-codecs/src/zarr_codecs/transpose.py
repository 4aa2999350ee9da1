"""transpose codec (array -> array): a permutation of the dimensions.

Name:           transpose
Specification:  v3 codecs, "Transpose codec", version 1.0
Configuration:  {"order": [1, 0]}; "C" and "F" from some writers are accepted
Schema:         schemas/codec/transpose.json
Partial decode: yes
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    BasicIndexer,
    CoordinateIndexer,
    OrthogonalIndexer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import numpy as np
    from zarr_core.extension import JSON, Selection


@dataclass(frozen=True, slots=True)
class TransposeCodec(ArrayToArrayCodec):
    """Permute the dimensions, without a copy.

    Parameters
    ----------
    order : sequence of int, or {"C", "F"}
        Dimension ``i`` of the encoded chunk is dimension ``order[i]`` of the decoded
        chunk.  ``"C"`` keeps the order of the dimensions and ``"F"`` reverses it; zarrita
        writes both, and TensorStore accepts them.  New arrays store the list.
    """

    order: Sequence[int] | Literal["C", "F"]

    def __post_init__(self) -> None:
        order: Any = self.order
        if isinstance(order, str):
            if order not in ("C", "F"):
                raise ValueError(
                    f'order must be a list of dimensions, "C" or "F", not {order!r:.60}'
                )
            return
        order = tuple(order)
        if any(type(axis) is not int for axis in order) or sorted(order) != list(range(len(order))):
            raise ValueError(f"order must be a permutation of 0, 1, ..., n-1, not {list(order)}")
        object.__setattr__(self, "order", order)

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration; a permutation as a JSON array."""
        return {"order": self.order if isinstance(self.order, str) else list(self.order)}

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Replace ``"C"`` and ``"F"`` with the list that the specification requires."""
        return replace(self, order=self._axes(len(decoded.shape)))

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Permute the shape.

        Raises
        ------
        ValueError
            If the chunk has a different number of dimensions.
        """
        order = self._axes(len(decoded.shape))
        if len(order) != len(decoded.shape):
            raise ValueError(
                f"order {list(order)} is for {len(order)} dimensions, "
                f"but the chunk has {len(decoded.shape)}"
            )
        return replace(decoded, shape=self._permuted(decoded.shape))

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return a view of the chunk with permuted dimensions."""
        return array.transpose(self._axes(array.ndim))

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return a view of the chunk with the original order of dimensions."""
        order = self._axes(array.ndim)
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return array.transpose(inverse)

    def encoded_part(
        self, selection: Selection, part: np.ndarray[Any, Any]
    ) -> tuple[Selection, np.ndarray[Any, Any]]:
        """Permute the selection and the view of the memory."""
        if isinstance(selection, CoordinateIndexer):
            return CoordinateIndexer(self._permuted(selection.index)), part
        if isinstance(selection, OrthogonalIndexer):
            return OrthogonalIndexer(self._permuted(selection.index)), part.transpose(
                self._axes(part.ndim)
            )
        return BasicIndexer(self._permuted(selection.index)), part.transpose(self._axes(part.ndim))

    def _axes(self, ndim: int) -> Sequence[int]:
        """Return the permutation for ``ndim`` dimensions."""
        if not isinstance(self.order, str):
            return self.order
        return tuple(range(ndim) if self.order == "C" else reversed(range(ndim)))

    def _permuted(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(items[axis] for axis in self._axes(len(items)))
