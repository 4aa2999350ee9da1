"""Base class of stores whose values are read with readers, and again if they were replaced."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.extension import ByteRange, Store, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_core.extension import Buffer
    from zarr_core.interfaces.store import Values


T = TypeVar("T")

_ATTEMPTS = 5
_WHOLE = ByteRange(0)


def replaced(store: object, key: str) -> ValueReplacedError:
    """Return the error of a reader whose value was replaced."""
    return ValueReplacedError("the value was replaced while it was read", store, key)


def repeat_if_replaced(attempt: Callable[[], T]) -> T:
    """Read again if a value was replaced while it was read."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return attempt()
        except ValueReplacedError:
            continue
    return attempt()


class ReaderStore(Store):
    """A store that reads every value with a reader of :meth:`open_value`."""

    def get(self, key: str) -> Buffer | None:
        value: Any = self.get_limited(key, sys.maxsize)
        return value if value is None else value.toreadonly()

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        part = ByteRange(0, limit) if out is None and limit < sys.maxsize else _WHOLE

        def attempt() -> Buffer | int | None:
            reader = self.open_value(key, part)
            if reader is None:
                return None
            with reader:
                return reader.read_limited(limit, out)

        return repeat_if_replaced(attempt)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        return repeat_if_replaced(lambda: Store.get_partial_values(self, requested))
