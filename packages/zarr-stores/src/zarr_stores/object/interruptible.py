"""Calls of obstore, whose compiled code ignores interrupts while it waits for a server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from zarr_core.threads import call_for, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")


def call_interruptibly(work: Callable[[], R], what: object) -> R:
    """Call a function that waits for a server in compiled code.

    In the main thread, the function is called in another thread, and an interrupt ends only the
    waiting.  Therefore it must not use memory that others may change or reuse meanwhile.  ``what``
    is what is waited for, for messages.
    """
    if threading.current_thread() is not threading.main_thread():
        with waiting(what):
            return work()
    results: list[R] = []

    def run() -> None:
        with waiting():
            results.append(work())

    with waiting(what):
        call_for(None, run)
    return results[0]
