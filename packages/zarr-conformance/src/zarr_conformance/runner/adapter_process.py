"""An adapter that runs as a program."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_LINE = 16 << 20
"""The maximum size of a response in bytes; elements are in files."""

_POLL_SECONDS = 0.05  # between two checks of the memory of the program
_MAX_STDERR = 1200  # bytes of standard error in messages
_POSIX = os.name == "posix"
_NEW_PROCESS_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP, which subprocess has on Windows only


class AdapterError(Exception):
    """The program cannot respond."""

    outcome: Literal["crash", "timeout", "memory"] = "crash"


class AdapterDiedError(AdapterError):
    """The program ended, or returned an invalid response."""


class AdapterTimeoutError(AdapterError):
    """The program exceeded the time limit and was killed."""

    outcome = "timeout"


class AdapterMemoryError(AdapterError):
    """The program exceeded the memory limit and was killed."""

    outcome = "memory"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for an implementation.

    Parameters
    ----------
    seconds : float
        The time limit for one case.
    memory : int
        The limit of resident memory of the program and its children, in bytes; 0 for no limit.
    start : float
        The time limit in seconds for starting and returning the capabilities.
    """

    seconds: float = 10.0
    memory: int = 2 << 30
    start: float = 60.0


class AdapterProcess:
    """A running adapter.

    Parameters
    ----------
    command : sequence of str
        The program with its arguments.
    log : Path
        Receives its standard error.
    memory : int
        The limit of resident memory, in bytes, including its children; 0 for no limit.
        Ignored without /proc.
    environment : mapping, optional
        Additional environment variables.

    Raises
    ------
    AdapterDiedError
        If the program cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        memory: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._log = log
        self._memory = memory
        with log.open("ab") as errors:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=_POSIX,
                    creationflags=0 if _POSIX else _NEW_PROCESS_GROUP,
                    env=os.environ | dict(environment or {}),
                )
            except OSError as error:
                raise AdapterDiedError(f"cannot be started: {error}") from error
        self._log_start = log.stat().st_size
        _disable_core_dumps(self._process.pid)
        # Limited, so that a program that writes without requests blocks and does not fill memory.
        self._lines: queue.Queue[bytes] = queue.Queue(4)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._number = 0

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            while line := self._process.stdout.readline(LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(b"")

    def request(self, seconds: float, operation: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and wait for the response.

        Parameters
        ----------
        seconds : float
            The time limit.
        operation : str
            The operation.
        **arguments
            Other members of the request.

        Returns
        -------
        dict
            With ``result`` or ``error``.

        Raises
        ------
        AdapterTimeoutError, AdapterMemoryError, AdapterDiedError
            The process is ended in each case.
        """
        self._number += 1
        self._log_start = self._log.stat().st_size
        message = {"id": self._number, "operation": operation, **arguments}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{json.dumps(message)}\n".encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self._died(str(error)) from error
        line = self._line(seconds)
        if not line:
            raise self._died("it ended")
        response = _parse(line, self._number)
        if response is None:
            self.close()
            raise AdapterDiedError(f"invalid response: {line[:200]!r}{self._last_stderr()}")
        return response

    def _line(self, seconds: float) -> bytes:
        """Return the next line of its output."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                return self._lines.get(timeout=max(0.001, min(left, _POLL_SECONDS)))
            except queue.Empty:
                used = _resident(self._process.pid) if self._memory else 0
                if used > self._memory:
                    self.close()
                    message = f"{used >> 20} MiB used, the limit is {self._memory >> 20} MiB"
                    raise AdapterMemoryError(message) from None
                if left <= 0:
                    self.close()
                    raise AdapterTimeoutError(
                        f"no response in {seconds:g} seconds{self._last_stderr()}"
                    ) from None

    def _died(self, how: str) -> AdapterDiedError:
        with suppress(subprocess.TimeoutExpired):  # it may be about to end
            self._process.wait(1.0)
        self.close()
        code = self._process.returncode
        if code < 0:
            how = f"killed by {_signal_name(-code)}"
        elif code:
            how = f"exit status {code}"
        return AdapterDiedError(how + self._last_stderr())

    def _last_stderr(self) -> str:
        """Return the start and the end of its standard error since the request."""
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            output = log.read(_MAX_STDERR // 2)
            rest = self._log.stat().st_size - log.tell()
            if rest > _MAX_STDERR // 2:
                log.seek(rest - _MAX_STDERR // 2, os.SEEK_CUR)
                output += b" ... "
            output += log.read()
        text = output.decode("utf-8", "replace").strip()
        return f"; stderr: {text}" if text else ""

    def close(self) -> None:
        """Kill the program and, if the system has process groups, its children."""
        with suppress(ProcessLookupError, PermissionError):
            if _POSIX:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        while self._reader.is_alive():  # it may be blocked by unread lines
            with suppress(queue.Empty):
                self._lines.get(timeout=0.01)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _parse(line: bytes, number: int) -> dict[str, Any] | None:
    """Parse a response; return None if it is invalid."""
    try:
        response = json.loads(line)
        if response["id"] != number or ("result" in response) == ("error" in response):
            return None
        if "error" in response:
            error = response["error"]
            is_valid = all(isinstance(error[item], str) for item in ("category", "type", "message"))
        else:
            is_valid = isinstance(response["result"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dict(response) if is_valid else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _disable_core_dumps(process: int) -> None:
    """Disable core dumps of the process, on systems that permit it for another process."""
    try:
        resource: Any = import_module("resource")
    except ImportError:  # on Windows
        return
    if hasattr(resource, "prlimit"):
        with suppress(OSError):
            resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def _resident(leader: int) -> int:
    """Return the resident memory of all processes of a session in bytes; 0 without /proc."""
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # The name of the program is in parentheses and may contain any character.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == leader:
                pages += int(fields[21])
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


class AdapterSession:
    """An adapter program, which the next request starts again if it has ended.

    Parameters
    ----------
    command : sequence of str
        The command of the adapter.
    log : Path
        The file of its standard error.
    limits : Limits
        Limits for the adapter.
    """

    def __init__(self, command: Sequence[str], log: Path, limits: Limits) -> None:
        self._command = command
        self._log = log
        self._limits = limits
        self._process: AdapterProcess | None = None

    def start(self) -> dict[str, Any]:
        """Start the program; return its response to ``capabilities``."""
        self._process = AdapterProcess(self._command, self._log, self._limits.memory)
        return self._request(self._limits.start, "capabilities")

    def request(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Return the response to a request.

        Raises
        ------
        AdapterError
            If the program does not respond; the next request starts it again.
        """
        if self._process is None:
            self.start()
        return self._request(self._limits.seconds, operation, **arguments)

    def _request(self, seconds: float, operation: str, **arguments: Any) -> dict[str, Any]:
        assert self._process is not None
        try:
            return self._process.request(seconds, operation, **arguments)
        except AdapterError:
            self._process = None
            raise

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.close()
            self._process = None
