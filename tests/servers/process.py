"""A server in a child process, with its own port and directory."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from servers import places, process_tree, watchdog
from servers.ports import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTEMPTS = 6
TAIL = 20  # lines of the log in the message of a failure


class ServerFailed(Exception):
    """Raised if a server does not start; the message contains the end of its log."""


class Server(ABC):
    """A server that can be started, killed and restarted on the same data.

    Attributes
    ----------
    host : str
    port : int
        Does not change when the server is restarted.
    directory : pathlib.Path
        Directory of the server, with ``data`` and ``log``; removed by ``close``.
    """

    name: ClassVar[str]
    durable: ClassVar[bool]  # whether data survives a kill
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    ready_within: ClassVar[float] = 120.0
    stop_within: ClassVar[float] = 60.0
    further_ports: ClassVar[tuple[int, ...]] = ()
    minds_its_name: ClassVar[bool] = False  # whether it accepts only its own address as Host

    def __init__(self) -> None:
        self.host = HOST
        self.port = 0
        above = "/tmp" if self.user() and not _open_to_all(tempfile.gettempdir()) else None
        self.directory = Path(tempfile.mkdtemp(prefix=f"zarr-{self.name}-", dir=above))
        self.directory.chmod(0o755)  # some servers run as another user
        self.data = self.directory / "data"
        self.data.mkdir()
        self.log = self.directory / "log"
        self._process: subprocess.Popen[bytes] | None = None

    # --- properties of a server class ---

    installation: ClassVar[tuple[str, ...]] = ()
    """The name of the program for messages, and the commands that install it."""

    @staticmethod
    def program() -> Path | None:
        """Return the path of the program; None if it is not installed."""
        return Path(sys.executable)

    @classmethod
    def missing(cls) -> str | None:
        """Return why the server cannot run, with how to install it; None if it can."""
        return None if cls.program() else places.how_to_get(*cls.installation)

    @property
    def url(self) -> str:
        """URL for clients."""
        return f"http://{self.host}:{self.port}"

    @abstractmethod
    def command(self) -> list[Any]:
        """Return the program and its arguments, for ``self.port`` and ``self.data``."""

    @abstractmethod
    def ready(self) -> bool:
        """Return whether the server responds; called repeatedly while it starts."""

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the program."""
        return {}

    def user(self) -> str | None:
        """Return the user of the program; None for the user of the tests."""
        return None

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Prepare the first start."""

    def started(self) -> None:  # noqa: B027 - most need nothing
        """Finish every start."""

    # --- lifetime ---

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Id of the process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start the server and wait until it responds.

        Raises
        ------
        ServerFailed
            If the server exits, or does not respond within ``ready_within`` seconds.
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
                # Another process may have taken the port, or the killed one still holds the data.
                if attempt == ATTEMPTS:
                    raise
                time.sleep(0.3 * attempt)
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
        """Return the last lines of the log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-TAIL:])

    def stop(self) -> None:
        """Stop the server normally; kill processes that do not exit."""
        self._end(self.stop_signal)

    def kill(self) -> None:
        """Kill the server and all its child processes."""
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
        # Reparented processes are still in the process group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
            process.wait()
        process_tree.kill([pid for pid in members if pid != process.pid])
        watchdog.forget(process.pid, self.directory)
        self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend the server: the system accepts connections, but there is no response."""
        members = process_tree.family(self.pid)
        for pid in members:
            os.kill(pid, signal.SIGSTOP)
        # The signal returns before all threads are suspended, so one could still respond.
        for pid in members:
            for state in Path(f"/proc/{pid}/task").glob("*/stat"):
                with contextlib.suppress(OSError):  # a thread that ended
                    for _ in range(1000):
                        if state.read_text().rpartition(")")[2].split()[0] in "TtZX":
                            break
                        time.sleep(0.01)
        try:
            yield
        finally:
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        """Kill the server and remove its directory."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def _open_to_all(directory: str) -> bool:
    """Whether another user can open files in a directory."""
    folder = Path(directory).resolve()
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def _group(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
