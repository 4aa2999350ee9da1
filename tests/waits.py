"""Waits for events, so that no test depends on the speed of the machine."""

import contextlib
import gc
import time

PATIENCE = 120
"""Seconds after which an event is taken as missing: far more than any machine needs."""

LATENCIES = (0.005, 0.02, 0.08, 0.32)
"""Seconds that a store takes to answer: longer ones where processors are busy.

What a test says of requests in flight holds if the latency is long against the time for which
a thread may have to wait for a processor.  So tests try one latency after the other.
"""


def wait_until(condition):
    """Wait until a function returns something true, and return it."""
    until = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < until, f"not within {PATIENCE} s"
        time.sleep(0.002)
    return result


def eventually(work, *errors):
    """Call a function again until it raises none of the errors, and return its result."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except errors:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def no_garbage_collection():
    """Disable the collector of cycles within a ``with`` block.

    h5py frees objects with a lock that it holds during the callbacks of ``visititems``.  kerchunk
    waits there for the thread of zarr-python: a collection in that thread would never end.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
