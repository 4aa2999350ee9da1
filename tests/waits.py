"""Waits for events, so that no test depends on the speed of the machine."""

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
