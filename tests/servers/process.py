"""A server in a child process, on a port of its own, in a directory of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from servers import process_tree, watchdog
from servers.ports import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTEMPTS = 3
TAIL = 20  # lines of the log that a failure shows


class ServerFailed(Exception):
    """A server did not start; the message has the end of its log."""


class Server(ABC):
    """A server that is started, killed, started again on what it had.

    Attributes
    ----------
    host : str
    port : int
        The same after every start.
    directory : pathlib.Path
        Everything of the server: ``data``, ``log``, whatever it needs; gone after ``close``.
    """

    name: ClassVar[str]
    durable: ClassVar[bool]  # whether data outlive the process
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    ready_within: ClassVar[float] = 30.0
    stop_within: ClassVar[float] = 10.0
    further_ports: ClassVar[tuple[int, ...]] = ()
    minds_its_name: ClassVar[bool] = False  # whether it answers only to its own address

    def __init__(self) -> None:
        self.host = HOST
        self.port = 0
        self.directory = Path(tempfile.mkdtemp(prefix=f"zarr-{self.name}-"))
        self.directory.chmod(0o755)  # some servers run as another user
        self.data = self.directory / "data"
        self.data.mkdir()
        self.log = self.directory / "log"
        self._process: subprocess.Popen[bytes] | None = None

    # --- what a kind of server says of itself ---

    @classmethod
    @abstractmethod
    def missing(cls) -> str | None:
        """Why it cannot run here, with how to get it; None if it can."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients find it."""

    @abstractmethod
    def command(self) -> list[str | Path]:
        """The program with its arguments, for ``self.port`` and ``self.data``."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether it answers; asked again and again while it starts."""

    def environment(self) -> dict[str, str]:
        """Variables that the program needs."""
        return {}

    def user(self) -> str | None:
        """The user that the program runs as; None is the one of the tests."""
        return None

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Do what has to be done before the first start."""

    def started(self) -> None:  # noqa: B027 - most need nothing
        """Do what has to be done after every start."""

    # --- its life ---

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start, and wait until it answers.

        Raises
        ------
        ServerFailed
            If it ended, or has not answered within ``ready_within`` seconds.
        """
        assert not self.running
        if first := not self.port:
            self.prepare()
        for attempt in range(1, ATTEMPTS + 1):
            if first:
                self.port = free_port(*self.further_ports)
            try:
                self._launch()
                break
            except ServerFailed:
                # Another one may have taken the port, or what was killed still holds the data.
                if attempt == ATTEMPTS:
                    raise
                time.sleep(0.3)
        self.started()
        return self

    def _launch(self) -> None:
        user = self.user()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(word) for word in self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.data,
                env=os.environ | self.environment(),
                start_new_session=True,
                user=user,
                group=user and _group(user),
                extra_groups=user and [],
            )
        watchdog.watch(self.pid, self.directory)
        until = time.monotonic() + self.ready_within
        while not self.ready():
            code = self._process.poll()
            if code is not None or time.monotonic() > until:
                late = f"did not answer within {self.ready_within:g} s"
                self.kill()
                outcome = late if code is None else f"ended with {code}"
                raise ServerFailed(f"{self.name} {outcome}; the end of its log:\n{self.tail()}")
            time.sleep(0.02)

    def tail(self) -> str:
        """The last lines of the log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-TAIL:])

    def stop(self) -> None:
        """Stop as the server is meant to be stopped; kill what does not go."""
        self._end(self.stop_signal)

    def kill(self) -> None:
        """Kill without a warning, with every process that it has started."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        members = process_tree.family(process.pid)
        if number != signal.SIGKILL and self.running:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.stop_within)
        # Those that have left the family meanwhile still are in the group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
            process.wait()
        process_tree.kill([pid for pid in members if pid != process.pid])
        watchdog.forget(process.pid, self.directory)
        self._process = None

    def restart(self) -> None:
        """Start again with the same port, on the same data."""
        self.stop()
        self.start()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it hang: connections are accepted by the system, nothing is answered."""
        members = process_tree.family(self.pid)
        for pid in members:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        """Remove everything; there is nothing that a server could save by an end in peace."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def _group(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
