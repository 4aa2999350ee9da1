"""A server for as long as a program runs."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_cli.serve.server import StoreServer


def run(server: StoreServer, started: Callable[[str], None]) -> None:
    """Answer until the program is interrupted or told to end.

    Parameters
    ----------
    server : StoreServer
        The server.
    started : callable
        Gets its address once it answers.
    """
    over = threading.Event()

    def end(*_: Any) -> None:
        over.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with server:
            started(server.url)
            over.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
