"""The data type that stores the elements of a NumPy array."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from zarr_core.errors import UnknownExtensionError
from zarr_core.registry.builtin import LINES
from zarr_core.registry import listing
from zarr_core.registry.resolve import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from zarr_core.interfaces.data_type import DataType


def data_type_for(dtype: np.dtype[Any]) -> DataType:
    """Find the data type for a NumPy dtype: core's own, else the first that is installed.

    Parameters
    ----------
    dtype : dtype
        In any byte order, which a data type does not have.

    Raises
    ------
    UnknownExtensionError
        If none stores such elements.
    """
    for name in chain(LINES["data_type"], ("r8",), _others()):
        data_type: DataType | None = find("data_type", name).from_numpy(dtype)
        if data_type is not None:
            return data_type
    raise UnknownExtensionError(
        "data_type", str(dtype), hint="More data types: pip install zarr-dtypes"
    )


def _others() -> Iterator[str]:
    """Further names, asked for only if core has no data type for a dtype."""
    yield from listing.names("data_type")
