"""Some selections of a chunk, in the form that codecs see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from zarr_core.extension import BasicIndexer, CoordinateIndexer, OrthogonalIndexer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Selection


def some_selections(shape: tuple[int, ...]) -> Iterator[Selection]:
    """Boxes with and without steps, outer products with repeated indices, single points.

    Parameters
    ----------
    shape : tuple of int
        Shape of the chunk, in elements.
    """
    yield BasicIndexer(tuple(slice(0, length, 1) for length in shape))
    yield BasicIndexer(tuple(slice(length // 2, length // 2 + 1, 1) for length in shape))
    yield BasicIndexer(tuple(slice(length // 3, length, 2) for length in shape))
    if shape:
        indices = [np.array([length - 1, 0, 0], np.intp) for length in shape]
        yield OrthogonalIndexer((indices[0], *(slice(0, length, 1) for length in shape[1:])))
        yield OrthogonalIndexer(tuple(indices))
        yield CoordinateIndexer(tuple(indices))
