"""Time limits for the calls of asynchronous file systems of fsspec, most of which have none."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOWEST = 1 << 15  # bytes in a second
_UNKNOWN = 10  # multiple of the limit for a value of unknown length


class TimedFileSystem:
    """An asynchronous file system whose calls raise :class:`TimeoutError` after a time.

    fsspec does not report the progress of a call.  Therefore the limit of a call that transfers
    data is extended by 1 s for each 32 KiB, and is ten times as long if the length is unknown.

    Parameters
    ----------
    fs : AsyncFileSystem
        The file system.
    timeout : float
        Limit of a call in seconds.
    """

    def __init__(self, fs: Any, timeout: float) -> None:
        self._fs = fs
        self._timeout = timeout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._fs, name)
        # fsspec creates the synchronous methods, which accept ``timeout``, from coroutines.
        if not iscoroutinefunction(getattr(found, "__wrapped__", None)):
            return found
        return self._limited(found, name)

    def _limited(self, method: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            limit = self._limit(name, args, kwargs)
            try:
                return method(*args, **kwargs, timeout=limit)
            except TimeoutError as error:
                raise TimeoutError(
                    f"no response within {limit:.0f} s (timeout={self._timeout:g})"
                ) from error

        return call

    def _limit(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
        if name == "pipe_file":
            return self._timeout + float(len(args[1])) / _SLOWEST
        if name == "cat_ranges":
            length: int = sum(stop - start for start, stop in zip(*args[1:3], strict=True))
            return self._timeout + length / _SLOWEST
        if name == "cat_file" and "end" not in kwargs:
            return self._timeout * _UNKNOWN
        return self._timeout
