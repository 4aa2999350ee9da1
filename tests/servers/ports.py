"""Free ports of the loopback interface."""

from __future__ import annotations

import contextlib
import random
import socket

HOST = "127.0.0.1"
# Below the ephemeral ports: an outgoing connection could take the port of a stopped server,
# and a client that connects to an ephemeral port may reach itself.
FIRST, LAST = 12_000, 22_000


def free_port(*further: int) -> int:
    """Find a free port.

    Parameters
    ----------
    *further : int
        Offsets of other ports that must be free, too.
    """
    chosen = random.SystemRandom()  # tests set the seed of the default generator
    for _ in range(1000):
        port = chosen.randrange(FIRST, LAST)
        if all(_is_free(port + distance) for distance in (0, *further)):
            return port
    raise RuntimeError(f"no port from {FIRST} to {LAST} is free")


def _is_free(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
