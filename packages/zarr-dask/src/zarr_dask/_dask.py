"""The only door to Dask, few of whose functions have types."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import dask
import dask.array as _array
from dask.base import tokenize as _tokenize
from dask.utils import parse_bytes as _parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from dask.array import Array as DaskArray

_untyped: Any = _array

from_array: Callable[..., DaskArray] = _untyped.from_array
store: Callable[..., Any] = _untyped.store
asarray: Callable[..., DaskArray] = _untyped.asarray
normalize_chunks: Callable[..., tuple[tuple[int, ...], ...]] = _untyped.core.normalize_chunks
tokenize: Callable[..., str] = _tokenize


def all_of(x: Any) -> Any:
    """Something delayed that computes all blocks of an array, and gives None."""
    delayed: Any = dask.delayed  # type: ignore[attr-defined]  # is found there, and not declared
    return delayed(_none)(x.to_delayed().ravel().tolist())


def _none(_blocks: object) -> None:
    return


def bytes_of(amount: int | str) -> int:
    """How many bytes an amount such as ``"512 MiB"`` is."""
    parse: Any = _parse_bytes
    return int(parse(amount))


def block_bytes() -> int:
    """How many bytes Dask wants a block to have, by its settings."""
    return bytes_of(dask.config.get("array.chunk-size"))


def current_client() -> Any:
    """The client of ``distributed`` that is in use here, or None."""
    if "distributed" not in sys.modules:
        return None
    import distributed  # noqa: PLC0415 - an extra

    untyped: Any = distributed
    try:
        return untyped.default_client()
    except ValueError:
        return None


def is_client(given: Any) -> bool:
    """Whether something is a client of ``distributed``."""
    if "distributed" not in sys.modules:
        return False
    from distributed import Client  # noqa: PLC0415 - an extra

    return isinstance(given, Client)
