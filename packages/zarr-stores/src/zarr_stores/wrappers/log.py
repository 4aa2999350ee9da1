"""A store that logs every operation."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_stores.wrappers.observer import ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Store

__all__ = ["LoggedStore"]

T = TypeVar("T")
_DEBUG = 10  # logging.DEBUG


class LoggedStore(ObservedStore):
    """A wrapper that logs each operation with its key, bytes and duration, but no values.

    Parameters
    ----------
    inner : Store
        The store.
    logger : str
        Name of the logger of the standard library.
    level : int
        Level of successful operations, by default ``logging.DEBUG``.  Failed operations are
        logged as warnings with the class of the exception.

    Notes
    -----
    The log contains the URL of the store, without credentials.
    """

    def __init__(self, inner: Store, logger: str = "zarr_stores.log", level: int = _DEBUG) -> None:
        import logging

        super().__init__(inner)
        self._logger = logging.getLogger(logger)
        self._level = level

    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        started = perf_counter()
        try:
            result = work()
        except Exception as error:
            milliseconds = (perf_counter() - started) * 1000
            self._logger.warning(
                "%s %r in %s: %s after %.3f ms",
                operation,
                key,
                self.url,
                type(error).__name__,
                milliseconds,
            )
            raise
        if self._logger.isEnabledFor(self._level):
            milliseconds = (perf_counter() - started) * 1000
            message = "%s %r in %s: %d bytes in %.3f ms"
            count = nbytes(result)
            self._logger.log(self._level, message, operation, key, self.url, count, milliseconds)
        return result

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._logger.name, self._level
