"""Folders that take long to build, and that all workers of a test run share."""

import fcntl
import os
import shutil


def built_once(tmp_path_factory, name, build):
    """Return a folder; the first worker that needs it calls ``build`` with the folder.

    Parameters
    ----------
    tmp_path_factory : pytest.TempPathFactory
        The fixture; workers have folders beside each other.
    name : str
        The name of the folder, unique in a test run.
    build : callable
        Fills the folder, which exists.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            build(folder)
            done.touch()
    return folder
