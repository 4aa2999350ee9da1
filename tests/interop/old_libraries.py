"""Old versions of libraries, each in its interpreter.

``make old-writers`` creates the environments; an environment variable selects another interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from servers.requirement import unavailable

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "fixtures" / "writers"
ENVIRONMENTS = {
    "zarr2": ("ZARR_CORE_ZARR2_PYTHON", ".venv-zarr2"),
    "zarr1": ("ZARR_CORE_ZARR1_PYTHON", ".venv-zarr1"),
    "zarr1.0": ("ZARR_CORE_ZARR10_PYTHON", ".venv-zarr1.0"),
}
SETTINGS = {"ZARR_V3_EXPERIMENTAL_API": "1", "ZARR_V3_SHARDING": "1", "PYTHONPATH": str(PROGRAMS)}


def find(name: str) -> str | None:
    """The interpreter with the library, or None."""
    variable, environment = ENVIRONMENTS[name]
    python = Path(os.environ.get(variable) or ROOT / environment / "bin" / "python")
    return str(python) if python.exists() else None


def need(name: str) -> str:
    """The same; if it is missing, skip the test, or fail if everything is required."""
    python = find(name)
    if python is None:
        variable, environment = ENVIRONMENTS[name]
        reason = f"{environment} is missing: make old-writers creates it; or set {variable}"
        if name == "zarr2":  # the others need a version of Python that is often not installed
            unavailable(reason)
        pytest.skip(reason)
    return python


def run(python: str, code: str, *arguments: Any) -> str:
    """Run a program; return its output."""
    command = [python, "-W", "ignore", "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | SETTINGS, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


def read_all(python: str, places: list[tuple[str, Any, str]]) -> list[dict[str, Any]]:
    """Read nodes, each given by a kind of store, its location and a path; see ``writers/reading.py``."""
    from recording import unpack

    request = json.dumps([(kind, str(store), path) for kind, store, path in places])
    done = subprocess.run(
        [python, "-W", "ignore", str(PROGRAMS / "reading.py")],
        env=os.environ | SETTINGS,
        input=request,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    for answer in answers:
        if answer.get("kind") == "array":
            answer["values"] = unpack(answer["dtype"], answer["shape"], answer.pop("data"))
    return answers


def read(python: str, store: Any, path: str = "", kind: str = "directory") -> dict[str, Any]:
    """Read one node."""
    (answer,) = read_all(python, [(kind, store, path)])
    return answer


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same elements in any byte order; objects are compared by ``==``."""
    if one.shape != other.shape:
        return False
    if one.dtype == object or other.dtype == object:
        return all(map(_same_object, one.ravel().tolist(), other.ravel().tolist()))
    native = one.dtype.newbyteorder("=")
    if native != other.dtype.newbyteorder("="):
        return False
    return one.astype(native).tobytes() == other.astype(native).tobytes()


def _same_object(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return same_bits(np.asarray(one), np.asarray(other))
    return type(one) is type(other) and one == other
