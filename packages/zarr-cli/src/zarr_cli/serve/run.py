"""Running a server until the program is interrupted."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_cli.serve.server import StoreServer


def run_until_interrupted(server: StoreServer, started: Callable[[str], None]) -> None:
    """Serve until the program receives SIGINT or SIGTERM."""
    stopped = threading.Event()

    def stop(*_: Any) -> None:
        stopped.set()

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with server:
            started(server.url)
            stopped.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
