"""A process that kills the servers of a test process after it has ended.

One watchdog serves all servers of a test process.  It reads the processes to watch from standard
input, which ends when the test process ends.  (PR_SET_PDEATHSIG of Linux cannot be used,
because its signal is sent when the parent *thread* ends.)
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from servers import process_tree

_watchdog: subprocess.Popen[bytes] | None = None
_owner = 0


def watch(pid: int, directory: Path) -> None:
    """Register a process tree and its directory, which are removed when this process ends."""
    _tell(f"+{pid} {directory}\n")


def forget(pid: int, directory: Path) -> None:
    """Unregister a process that has ended."""
    _tell(f"-{pid} {directory}\n")


def _tell(line: str) -> None:
    global _watchdog, _owner
    if _watchdog is None or _owner != os.getpid() or _watchdog.poll() is not None:
        _watchdog = subprocess.Popen(
            [sys.executable, "-S", "-E", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C ends only the tests
        )
        _owner = os.getpid()
    assert _watchdog.stdin is not None
    _watchdog.stdin.write(line.encode())
    _watchdog.stdin.flush()


def close() -> None:
    """Stop the watchdog and all processes that it still watches."""
    global _watchdog
    if _watchdog is not None and _owner == os.getpid():
        assert _watchdog.stdin is not None
        _watchdog.stdin.close()
        _watchdog.wait()
    _watchdog = None


def main() -> None:
    """Watch until the parent has ended; a fork of it may keep the pipe open, so both are checked."""
    parent, rest = os.getppid(), b""
    watched: set[bytes] = set()
    while os.getppid() == parent:
        if not select.select([0], [], [], 1.0)[0]:
            continue
        read = os.read(0, 4096)
        if not read:
            break
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            (watched.add if line[:1] == b"+" else watched.discard)(line[1:])
    for line in watched:
        pid, _, directory = line.partition(b" ")
        process_tree.kill(process_tree.family(int(pid)))
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
