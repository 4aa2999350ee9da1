"""Talking to an adapter that runs as a program."""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class AdapterDiedError(Exception):
    """The program ended, or said something that is no answer."""


class AdapterTimeoutError(Exception):
    """No answer came in time; the program has been killed."""


class Conversation:
    """A running adapter.

    Parameters
    ----------
    command : sequence of str
        The program with its arguments.
    log : Path
        Receives what it writes to standard error.
    memory : int
        Bytes of address space that it may take; 0 for no limit.
    environment : mapping, optional
        Further environment variables.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        memory: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        def limit() -> None:
            os.setsid()
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                preexec_fn=limit,
                env=os.environ | dict(environment or {}),
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._number = 0

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
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
        AdapterTimeoutError, AdapterDiedError
            As their names say; the conversation is over then.
        """
        self._number += 1
        asked = {"id": self._number, "operation": operation, **arguments}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{json.dumps(asked)}\n".encode())
            self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise AdapterTimeoutError(f"no answer in {seconds:g} seconds") from None
        except OSError as error:
            raise self._died(str(error)) from error
        if not line:
            raise self._died("it ended")
        try:
            answer = json.loads(line)
            told = answer["id"] == self._number and ("result" in answer) != ("error" in answer)
        except (ValueError, KeyError, TypeError):
            told = False
        if not told:
            self.close()
            raise AdapterDiedError(f"not an answer: {line[:200]!r}")
        return dict(answer)

    def _died(self, how: str) -> AdapterDiedError:
        self.close()
        code = self._process.returncode
        if code is not None and code < 0:
            how = f"killed by {signal.Signals(-code).name}"
        elif code:
            how = f"exit status {code}"
        return AdapterDiedError(how)

    def close(self) -> None:
        """End the program with all its children."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
