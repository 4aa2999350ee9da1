"""A store that logs every operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_stores.wrappers.observer import ObservedStore

if TYPE_CHECKING:
    from zarr_core.extension import Store

    from zarr_stores.wrappers.observer import Call

__all__ = ["LoggedStore"]

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

    def note(self, call: Call) -> None:
        where, milliseconds = (call.operation, call.key, self.url), call.seconds * 1000
        if call.error is None:
            text = "%s %r in %s: %d bytes in %.3f ms"
            self._logger.log(self._level, text, *where, call.nbytes, milliseconds)
        else:
            name = type(call.error).__name__
            self._logger.warning("%s %r in %s: %s after %.3f ms", *where, name, milliseconds)

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._logger.name, self._level
