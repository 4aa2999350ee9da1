"""A proxy in its own process that delays and counts requests and injects faults."""

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
    """A proxy before a local port.

    Parameters
    ----------
    target : int
        Port of the server.
    kind : {"http", "tcp"}
        Protocol: HTTP requests, or plain connections.
    renames : bool
        Whether the ``Host`` field is replaced with the address of the server; not possible
        for signed requests.

    Attributes
    ----------
    host, port : str, int
        Address for clients.
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
        self._answer()  # listening

    @property
    def url(self) -> str:
        """URL for HTTP."""
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

    # --- faults and latency ---

    def set_latency(self, seconds: float) -> None:
        """Delay each request by this number of seconds."""
        self._order("latency", seconds)

    def deliver_in_rounds(self, silence: float) -> None:
        """Deliver requests in rounds; see ``servers.rounds``."""
        self._order("rounds", silence)

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
        """Add a fault after the existing ones; see ``servers.faults.Rule``."""
        self._order("inject", asdict(Rule(fault, method, key, query, skip, times)))

    def clear(self) -> None:
        """Remove all faults."""
        self._order("clear")

    def break_connections(self) -> None:
        """Reset all open connections."""
        self._order("break")

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse new connections and reset open ones."""
        self._order("refuse")
        try:
            yield
        finally:
            self._order("accept")

    # --- traffic ---

    @property
    def traffic(self) -> Traffic:
        """Traffic since the start or the last ``forget``."""
        return Traffic.from_json(self._order("traffic"))

    def forget(self) -> None:
        """Reset the traffic."""
        self._order("forget")

    # --- lifetime ---

    def reset(self) -> None:
        """Remove latency, faults and traffic."""
        self.clear()
        self.set_latency(0)
        self.deliver_in_rounds(0)
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
