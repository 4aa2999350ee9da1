"""Talking to an adapter that runs as a program."""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_LINE = 16 << 20
"""Bytes of an answer; more is none, elements come in files."""

_PATIENCE = 0.05  # between two looks at the memory of a program that does not answer
_WORDS = 1200  # bytes of standard error that are told
_PAGE = os.sysconf("SC_PAGE_SIZE")


class AdapterDiedError(Exception):
    """The program ended, or said something that is no answer."""


class AdapterTimeoutError(Exception):
    """No answer came in time; the program has been killed."""


class AdapterMemoryError(Exception):
    """The program took more memory than it may; it has been killed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an implementation may take.

    Parameters
    ----------
    seconds : float
        For one case.
    memory : int
        Bytes that are resident in the program with all its children; 0 for no limit.
    start : float
        Seconds until it has told what it can do.
    """

    seconds: float = 10.0
    memory: int = 2 << 30
    start: float = 60.0


class Conversation:
    """A running adapter.

    Parameters
    ----------
    command : sequence of str
        The program with its arguments.
    log : Path
        Receives what it writes to standard error.
    memory : int
        Bytes that it may have resident, with all its children; 0 for no limit.  Where there
        is no /proc, nobody can say what it has.
    environment : mapping, optional
        Further environment variables.

    Raises
    ------
    AdapterDiedError
        If there is no such program.
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
                    start_new_session=True,
                    env=os.environ | dict(environment or {}),
                )
            except OSError as error:
                raise AdapterDiedError(f"cannot be started: {error}") from error
        self._said = log.stat().st_size
        _limited(self._process.pid)
        # Few, so that who answers without being asked is held up and fills no memory.
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

    def ask(self, seconds: float, operation: str, **arguments: Any) -> dict[str, Any]:
        """Ask one thing.

        Parameters
        ----------
        seconds : float
            How long it may take.
        operation : str
            What to do.
        **arguments
            Members of the request.

        Returns
        -------
        dict
            With ``result`` or ``error``.

        Raises
        ------
        AdapterTimeoutError, AdapterMemoryError, AdapterDiedError
            As their names say; the conversation is over then.
        """
        self._number += 1
        self._said = self._log.stat().st_size
        asked = {"id": self._number, "operation": operation, **arguments}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{json.dumps(asked)}\n".encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self._died(str(error)) from error
        line = self._line(seconds)
        if not line:
            raise self._died("it ended")
        told = _answer(line, self._number)
        if told is None:
            self.close()
            raise AdapterDiedError(f"not an answer: {line[:200]!r}{self._last_words()}")
        return told

    def _line(self, seconds: float) -> bytes:
        """What it says next."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                return self._lines.get(timeout=max(0.001, min(left, _PATIENCE)))
            except queue.Empty:
                taken = _resident(self._process.pid) if self._memory else 0
                if taken > self._memory:
                    self.close()
                    told = f"{taken >> 20} MiB of {self._memory >> 20} MiB that it may take"
                    raise AdapterMemoryError(told) from None
                if left <= 0:
                    self.close()
                    raise AdapterTimeoutError(
                        f"no answer in {seconds:g} seconds{self._last_words()}"
                    ) from None

    def _died(self, how: str) -> AdapterDiedError:
        with suppress(subprocess.TimeoutExpired):  # it may be ending just now
            self._process.wait(1.0)
        self.close()
        code = self._process.returncode
        if code < 0:
            how = f"killed by {signal.Signals(-code).name}"
        elif code:
            how = f"exit status {code}"
        return AdapterDiedError(how + self._last_words())

    def _last_words(self) -> str:
        """What it has written to standard error since it was asked: the beginning, the end."""
        with self._log.open("rb") as log:
            log.seek(self._said)
            words = log.read(_WORDS // 2)
            rest = self._log.stat().st_size - log.tell()
            if rest > _WORDS // 2:
                log.seek(rest - _WORDS // 2, os.SEEK_CUR)
                words += b" ... "
            words += log.read()
        said = words.decode("utf-8", "replace").strip()
        return f"; last words: {said}" if said else ""

    def close(self) -> None:
        """End the program with all its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        while self._reader.is_alive():  # it may be held up by lines that nobody wants
            with suppress(queue.Empty):
                self._lines.get(timeout=0.01)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _answer(line: bytes, number: int) -> dict[str, Any] | None:
    """An answer, if the line is one."""
    try:
        answer = json.loads(line)
        if answer["id"] != number or ("result" in answer) == ("error" in answer):
            return None
        if "error" in answer:
            told = answer["error"]
            sound = all(isinstance(told[it], str) for it in ("category", "type", "message"))
        else:
            sound = isinstance(answer["result"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dict(answer) if sound else None


def _limited(process: int) -> None:
    """Have it write no core when it dies."""
    if hasattr(resource, "prlimit"):
        with suppress(OSError):
            resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def _resident(leader: int) -> int:
    """Bytes that are resident in all processes of a session; 0 where nobody can say."""
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # The name of a program, in parentheses, may have any character in it.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == leader:
                pages += int(fields[21])
    return pages * _PAGE
