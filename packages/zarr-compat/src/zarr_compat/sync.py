"""Run coroutines from synchronous code."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Coroutine

__all__ = ["in_thread", "sync"]

T = TypeVar("T")

_guard = threading.Lock()
_loops: dict[int, AbstractEventLoop] = {}


def sync(coroutine: Coroutine[Any, Any, T], loop: object = None, timeout: float | None = None) -> T:
    """Run a coroutine in the event loop of a background thread, and wait for it.

    Parameters
    ----------
    coroutine : coroutine
        The coroutine.
    loop : object
        Ignored.
    timeout : float, optional
        Seconds after which the coroutine is cancelled and :class:`TimeoutError` is raised.

    Raises
    ------
    RuntimeError
        If a coroutine in that event loop calls it, which would wait for itself.
    """
    import asyncio  # slow to import

    background = _loop()
    if asyncio._get_running_loop() is background:  # noqa: SLF001 - documented, and does not raise
        coroutine.close()
        raise RuntimeError(
            "cannot wait for a coroutine in the event loop that runs it; await it instead, or call "
            "the method in a thread: await asyncio.to_thread(...)"
        )
    future = asyncio.run_coroutine_threadsafe(coroutine, background)
    try:
        return future.result(timeout)
    except BaseException:  # also KeyboardInterrupt
        future.cancel()
        raise


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run a blocking function in a thread."""
    import asyncio

    return await asyncio.to_thread(function, *arguments)


def _loop() -> AbstractEventLoop:
    """Return the event loop of this process; after a fork, the inherited one has no thread."""
    import asyncio

    with _guard:
        if os.getpid() not in _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="zarr_compat", daemon=True).start()
            _loops.clear()
            _loops[os.getpid()] = loop
        return _loops[os.getpid()]
