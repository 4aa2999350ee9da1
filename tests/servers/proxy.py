"""A proxy before a server, in a process of its own, that delays, counts, does harm on demand."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from servers.faults import Fault, Rule
from servers.ports import HOST, free_port
from servers.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("proxy_program.py")


class Proxy:
    """A proxy before a port of the loopback interface.

    Parameters
    ----------
    target : int
        The port of the server.
    kind : {"http", "tcp"}
        What it understands: requests, or only connections.
    renames : bool
        Whether the server sees its own address as ``Host``, where clients name the proxy;
        that is no help where clients sign what they send.

    Attributes
    ----------
    host, port : str, int
        Where clients find it.
    """

    def __init__(
        self, target: int, kind: Literal["http", "tcp"] = "http", *, renames: bool = False
    ) -> None:
        self.host = HOST
        self.port = free_port()
        arguments = [kind, self.host, str(target), str(self.port), str(int(renames))]
        self._process = subprocess.Popen(
            [sys.executable, "-E", str(PROGRAM), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._lock = threading.Lock()
        self._answer()  # it listens

    @property
    def url(self) -> str:
        """The address for HTTP."""
        return f"http://{self.host}:{self.port}"

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the proxy has ended with {self._process.wait()}")
        return json.loads(line)

    def _order(self, order: str, value: Any = None) -> Any:
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps([order, value]).encode() + b"\n")
            self._process.stdin.flush()
            return self._answer()

    # --- what it does to requests ---

    def set_latency(self, seconds: float) -> None:
        """Let each request wait so long before the server sees it."""
        self._order("latency", seconds)

    def inject(
        self,
        fault: Fault,
        *,
        method: str | None = None,
        key: str = "",
        query: str = "",
        skip: int = 0,
        times: int = 1,
    ) -> None:
        """Add a fault, after those that there are; see ``servers.faults.Rule``."""
        self._order("inject", asdict(Rule(fault, method, key, query, skip, times)))

    def clear(self) -> None:
        """Remove all faults."""
        self._order("clear")

    def break_connections(self) -> None:
        """Reset all connections that are open now."""
        self._order("break")

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse connections; those that are open are reset."""
        self._order("refuse")
        try:
            yield
        finally:
            self._order("accept")

    # --- what it has seen ---

    @property
    def traffic(self) -> Traffic:
        """All since the start, or since it was forgotten."""
        return Traffic.from_json(self._order("traffic"))

    def forget(self) -> None:
        """Begin to count anew."""
        self._order("forget")

    # --- its life ---

    def reset(self) -> None:
        """Be as new: no latency, no faults, nothing seen."""
        self.clear()
        self.set_latency(0)
        self.forget()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
