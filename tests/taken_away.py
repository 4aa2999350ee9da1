"""A plugin of pytest that takes features of the platform away: ``-p taken_away``.

Threads, subprocesses, ``fcntl`` and ``ctypes`` fail as where they do not exist.  A test that uses
one of them itself is skipped; if the library needs it, the test fails.
"""

import sys
from pathlib import Path

import numpy as np  # noqa: F401 - loads ctypes before it is taken away
import pytest

PACKAGES = str(Path(__file__).parents[1] / "packages")


class TakenAwayError(RuntimeError):
    """A feature that was taken away is used."""


def _fail(*arguments, **options):
    raise TakenAwayError("can't start new thread or process")


def pytest_configure():
    import _thread
    import subprocess
    import threading

    for module in (_thread, threading):
        for name in dir(module):
            if name.lstrip("_") in ("start_new_thread", "start_joinable_thread"):
                setattr(module, name, _fail)
    subprocess.Popen.__init__ = _fail
    for name in ("fcntl", "ctypes", "_ctypes", "_multiprocessing", "_posixsubprocess"):
        sys.modules[name] = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if not report.failed or call.excinfo is None:
        return
    error = call.excinfo.value
    taken = isinstance(error, TakenAwayError) or (
        isinstance(error, ImportError) and sys.modules.get(error.name or "", 0) is None
    )
    files = [str(entry.path) for entry in call.excinfo.traceback]
    if taken and not any(file.startswith(PACKAGES) for file in files):
        report.outcome = "skipped"
        report.longrepr = (
            str(item.path),
            item.location[1] or 0,
            "Skipped: uses what is taken away",
        )
