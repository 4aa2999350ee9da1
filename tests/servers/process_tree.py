"""Process trees: descendants, state, and killing all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

PROC = Path("/proc")


def _state_and_parent(pid: int) -> tuple[str, int] | None:
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name is in parentheses, and may itself contain spaces and parentheses.
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def runs(pid: int) -> bool:
    """Return whether a process is running; zombies are not."""
    if PROC.is_dir():
        found = _state_and_parent(pid)
        return found is not None and found[0] not in "ZX"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def family(pid: int) -> list[int]:
    """Return a process and its descendants, parents first; without /proc, only itself."""
    children: dict[int, list[int]] = {}
    if PROC.is_dir():
        for entry in PROC.iterdir():
            if entry.name.isdigit() and (found := _state_and_parent(int(entry.name))):
                children.setdefault(found[1], []).append(int(entry.name))
    members = [pid]
    for member in members:
        members += children.get(member, [])
    return members


def kill(pids: list[int], *, within: float = 60.0) -> None:
    """Kill processes with SIGKILL and wait until they have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for_end(pids, within=within)


def wait_for_end(pids: list[int], *, within: float) -> bool:
    """Wait until all processes have ended.

    Returns
    -------
    bool
        Whether they ended within the timeout.
    """
    until = time.monotonic() + within
    while any(map(runs, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
