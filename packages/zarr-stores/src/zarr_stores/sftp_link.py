"""An SSH connection for all threads of a process, which reconnects when it is lost."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import asyncssh

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine


T = TypeVar("T")


# For coroutines in other modules.
gather = asyncio.gather
sleep = asyncio.sleep


_deadline: ContextVar[asyncio.Timeout] = ContextVar("zarr-sftp-deadline")
_SLOWEST = 1 << 15  # bytes in a second


def extend_timeout(nbytes: int) -> None:
    """Extend the timeout of the current operation by the time for a transfer."""
    deadline = _deadline.get(None)
    when = None if deadline is None else deadline.when()
    if deadline is not None and when is not None and not deadline.expired():
        deadline.reschedule(when + nbytes / _SLOWEST)


class UnusableError(Exception):
    """Error for a path or connection option that cannot be used."""


class Link:
    """An event loop in its own thread, with a connection for concurrent requests.

    Parameters
    ----------
    options : dict
        Connection options of asyncssh.
    timeout, connect_timeout : float
        Timeouts of a response and of a connection, in seconds.  The connection is closed if a
        response times out.
    """

    def __init__(self, options: dict[str, Any], timeout: float, connect_timeout: float) -> None:
        self._options = options
        self._timeout, self._connect_timeout = timeout, connect_timeout
        self._connection: Any = None
        self._client: asyncssh.SFTPClient | None = None
        self._loop = asyncio.new_event_loop()
        self._connecting = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="zarr-sftp", daemon=True
        )
        self._thread.start()

    def run(self, work: Callable[[asyncssh.SFTPClient], Awaitable[T]], limited: bool = True) -> T:
        """Run a coroutine with the client and wait for its result.

        Parameters
        ----------
        work : callable
            Called with the client.
        limited : bool
            Whether the timeout of a response applies.
        """
        limit = self._timeout if limited else None
        future = asyncio.run_coroutine_threadsafe(self._do(work, limit), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _do(
        self, work: Callable[[asyncssh.SFTPClient], Awaitable[T]], limit: float | None
    ) -> T:
        client = await self.client()
        try:
            async with asyncio.timeout(limit) as deadline:
                _deadline.set(deadline)
                return await work(client)
        except TimeoutError:
            self._drop()
            raise TimeoutError(f"no response within {self._timeout:g} s") from None

    async def client(self) -> asyncssh.SFTPClient:
        """Return the client of an open connection."""
        if self._client is None or self._connection.is_closed():
            async with self._connecting:
                if self._client is None or self._connection.is_closed():
                    try:
                        async with asyncio.timeout(self._connect_timeout):
                            await self._connect()
                    except TimeoutError:
                        message = f"no connection within {self._connect_timeout:g} s"
                        raise TimeoutError(message) from None
        assert self._client is not None
        return self._client

    async def _connect(self) -> None:
        self._client = None
        try:
            connection = await asyncssh.connect(**self._options)
        except (TypeError, ValueError) as error:
            raise UnusableError(f"cannot connect: {error}") from error
        try:
            # File names are bytes.
            self._client = await connection.start_sftp_client(path_encoding=None)
        except BaseException:
            connection.abort()
            raise
        self._connection = connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.abort()
        self._client = None

    def start_task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a background task; must be called in the event loop."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks the exception as retrieved

    def start_task_threadsafe(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Start a background task from any thread; ignored if the link is closed."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self.start_task(work()))

    def close(self) -> None:
        """Close the connection and stop the thread."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._connection is not None:
            try:
                async with asyncio.timeout(1):
                    self._connection.close()
                    await self._connection.wait_closed()
            except TimeoutError:
                self._connection.abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
