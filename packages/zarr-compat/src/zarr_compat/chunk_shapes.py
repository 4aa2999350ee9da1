"""The chunk shapes of zarr-python for arrays that are created without ``chunks``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["with_default_chunks"]

_MIN_BYTES = 1 << 17
_MAX_BYTES = 1 << 26
_CREATES = frozenset(
    ("array", "create", "create_array", "create_dataset", "empty", "full", "ones", "zeros",
     "empty_like", "full_like", "ones_like", "zeros_like", "require_array", "require_dataset")
)  # fmt: skip
_OPENS = frozenset(("open", "open_array"))  # if they get a shape


@dataclass(frozen=True)
class DefaultChunks:
    """A value of ``chunks`` from which the core gets shapes; ``item_size`` may replace the real one."""

    item_size: int | None = None

    def choose_shapes(
        self, shape: tuple[int, ...], item_size: int, chunks: Any, shards: Any
    ) -> tuple[tuple[int, ...], None]:
        """Return the shape of chunks, and None, as there are no shards.

        The dimensions are halved (rounded up) in turn until a chunk has less than 1.5 times the
        wanted number of bytes, which grows with the logarithm of the size of the array.
        """
        size = self.item_size or item_size
        lengths = [max(1, length) for length in shape]
        wanted = 2**18 * 2 ** math.log10(math.prod(lengths) * size / 2**20)
        limit = min(1.5 * min(max(wanted, _MIN_BYTES), _MAX_BYTES), _MAX_BYTES)
        for axis in cycle(range(len(shape))):
            count = math.prod(lengths)
            if count == 1 or count * size < limit:
                break
            lengths[axis] = -(-lengths[axis] // 2)
        return tuple(lengths), None


def with_default_chunks(
    name: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a function with ``chunks``, if it creates an array without them.

    ``name`` is the function of the core; a data type in ``options`` is one of the core, too.
    """
    completed = dict(options)
    creates = name in _CREATES or (
        name in _OPENS and not completed.keys().isdisjoint(("shape", "data"))
    )
    if not creates or completed.get("shards") is not None:
        return completed
    chunks = completed.get("chunks", "auto")
    if not (chunks is None or (isinstance(chunks, str) and chunks == "auto")):
        return completed
    like = completed.get("like", arguments[0] if arguments and name.endswith("_like") else None)
    if getattr(like, "chunks", None) is None:  # otherwise its chunks
        data = completed.get("data", like)
        dtype = completed.get("dtype")
        is_variable = _is_variable(getattr(data, "dtype", None) if dtype is None else dtype)
        completed["chunks"] = DefaultChunks(1 if is_variable else None)
    return completed


def _is_variable(dtype: Any) -> bool:
    """Whether elements have various sizes; zarr-python counts one byte for each."""
    if isinstance(dtype, np.dtype):
        return dtype.hasobject or dtype.kind == "T"
    return dtype in (str, bytes, object, "str", "string", "bytes", "object", "O") or (
        getattr(dtype, "name", "") in ("string", "variable_length_bytes", "bytes")
    )
