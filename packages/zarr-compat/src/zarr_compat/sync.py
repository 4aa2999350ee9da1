"""Waiting for coroutines where no event loop runs."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncIterator, Callable, Coroutine

__all__ = ["collect_aiterator", "in_thread", "sync"]

T = TypeVar("T")

_guard = threading.Lock()
_loops: dict[int, AbstractEventLoop] = {}


def sync(coroutine: Coroutine[Any, Any, T], loop: object = None, timeout: float | None = None) -> T:
    """Wait for a coroutine, which runs in a loop of a thread of its own.

    Parameters
    ----------
    coroutine : coroutine
        What to wait for.
    loop : object
        Not looked at.
    timeout : float, optional
        Seconds after which :class:`TimeoutError` is raised.
    """
    import asyncio  # noqa: PLC0415 - lazy: slow to import, and few wait

    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result(timeout)


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """What a function returns, which may take its time."""
    import asyncio  # noqa: PLC0415 - lazy: as above

    return await asyncio.to_thread(function, *arguments)


async def collect_aiterator(items: AsyncIterator[T]) -> tuple[T, ...]:
    """All that an asynchronous iterator gives."""
    return tuple([item async for item in items])


def _loop() -> AbstractEventLoop:
    """The loop of this process; one that was inherited by a fork has no thread."""
    import asyncio  # noqa: PLC0415 - lazy: as above

    with _guard:
        if os.getpid() not in _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="zarr_compat", daemon=True).start()
            _loops.clear()
            _loops[os.getpid()] = loop
        return _loops[os.getpid()]
