"""Makes environments with the libraries that wrote the data of old, beside that of the tests.

Run from the root of the repository, with the names of environments or without (all that tests
use).  An environment that is there with the right versions is left alone.  Where no Python
fits, or where an optional one cannot be built, this says so; the tests that need it are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAMP = ".requirements"

# These say which Python they need in ways that pip of their time does not understand,
# so all of them are pinned.  zarr-python 1 is compiled, by what is installed before it.
FOR_PYTHON_36 = (
    "pip==21.3.1",
    "setuptools==59.6.0 wheel==0.37.1 setuptools_scm==6.4.2 packaging==21.3 pyparsing==3.0.9"
    " tomli==1.2.3 cython==0.29.37 numpy==1.19.5 fasteners==0.18",
)


@dataclass(frozen=True, slots=True)
class Environment:
    """A library of old with all that it needs.

    Parameters
    ----------
    pythons : tuple of str
        Versions of Python that it runs on, the best first.
    steps : tuple of str
        What pip installs, one call after the other.
    required : bool
        Whether tests without it are worth nothing.
    usual : bool
        Whether tests use it; else it only makes fixtures.
    """

    pythons: tuple[str, ...]
    steps: tuple[str, ...]
    required: bool = False
    usual: bool = True


ENVIRONMENTS = {
    ".venv-zarr2": Environment(
        ("3.11", "3.12", "3.13"),
        (
            # The last numcodecs that unpickles, and a zfpy whose version it can read;
            # zarr-python needs pytest to decode shards.
            "zarr==2.18.7 numcodecs==0.15.1 numpy<2.5 msgpack==1.1.2 crc32c==2.8 zfpy==1.0.1 lmdb==3.0.0 "
            "redis==8.1.0 pymongo==4.20.0"
            " pcodec==1.1.0 fsspec==2025.9.0 pytest==8.4.2",
        ),
        required=True,
    ),
    ".venv-zarr1": Environment(
        ("3.6",), (*FOR_PYTHON_36, "--no-build-isolation --no-deps zarr==1.1.0")
    ),
    ".venv-zarr1.0": Environment(
        ("3.6",), (*FOR_PYTHON_36, "--no-build-isolation --no-deps zarr==1.0.0")
    ),
    ".venv-zarr2.1": Environment(
        ("3.6",),
        (*FOR_PYTHON_36, "--no-build-isolation --no-deps zarr==2.1.4 numcodecs==0.2.1"),
        usual=False,
    ),
    ".venv-zarr2.4": Environment(
        ("3.8",), ("zarr==2.4.0 numcodecs==0.12.1 numpy==1.24.4",), usual=False
    ),
    # Its wheels have netCDF-C in them, with its own Zarr.
    ".venv-netcdf": Environment(("3.11", "3.12", "3.13"), ("netCDF4==1.7.5.1.post1",), usual=False),
}


def find_python(versions: tuple[str, ...]) -> str | None:
    """Find the first interpreter that works, on the path or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in versions:
        places: list[str | Path] = [f"python{version}"]
        places += sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
        if version == "{}.{}".format(*sys.version_info):
            places.append(sys.executable)
        for place in places:
            question = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
            try:
                answer = subprocess.run(
                    [place, "-c", question], capture_output=True, text=True, check=False
                )
            except OSError:
                continue
            if answer.stdout.strip() == version:
                return str(place)
    return None


def make(name: str) -> str | None:
    """Make one environment.

    Returns
    -------
    str or None
        Why it could not be made.
    """
    environment = ENVIRONMENTS[name]
    place = ROOT / name
    stamp, wanted = place / STAMP, "\n".join(environment.steps)
    if stamp.is_file() and stamp.read_text() == wanted:
        return None
    python = find_python(environment.pythons)
    if python is None:
        return f"no Python {' or '.join(environment.pythons)} was found"
    print(f"setting up {name} with {python}", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    commands = [[python, "-m", "venv", str(place)]]
    commands += [[*pip, "install", "--quiet", *step.split()] for step in environment.steps]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return "\n".join([" ".join(command), *done.stderr.splitlines()[-8:]])
    stamp.write_text(wanted)
    return None


def main(names: list[str]) -> int:
    """Make the environments that are asked for, two at a time."""
    names = names or [name for name, environment in ENVIRONMENTS.items() if environment.usual]
    failed = False
    with ThreadPoolExecutor(2) as pool:
        for name, problem in zip(names, pool.map(make, names), strict=True):
            if problem is None:
                continue
            required = ENVIRONMENTS[name].required
            failed |= required
            outcome = "it is needed" if required else "tests that need it are skipped"
            print(f"{name} could not be made, {outcome}: {problem}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
