"""A plugin of pytest that takes features of the platform away: ``-p taken_away``.

Threads, subprocesses, ``fcntl`` and ``ctypes`` fail as where they do not exist.  A test that uses
one of them itself is skipped; if the library needs it, the test fails.
"""

import sys
from pathlib import Path

import numpy as np  # noqa: F401 - loads ctypes before it is taken away
import pytest

LIBRARY = str(Path(__file__).parents[1] / "packages" / "zarr-core")
FILE_LOCKS = {
    "test_file_system_without_locks_is_reported",
    "test_a_warning_that_is_an_error_closes_the_lock_file",
    "test_a_lock_in_use_is_not_erased",
    "test_a_lock_file_that_was_left_is_used_again",
}
"""Tests of the locks of ``fcntl``."""


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


def pytest_collection_modifyitems(items):
    for item in items:
        if item.name in FILE_LOCKS:
            item.add_marker(pytest.mark.skip(reason="tests the locks of fcntl"))


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
    if taken and not any(file.startswith(LIBRARY) for file in files):
        report.outcome = "skipped"
        report.longrepr = (
            str(item.path),
            item.location[1] or 0,
            "Skipped: uses what is taken away",
        )
