"""Creates virtual environments with the libraries that wrote older formats.

Arguments are names of environments; without any, all are created, in the root of the repository.
An environment that has the right versions is left alone.  This reports each that cannot be
created, and why; tests that need it are skipped.  The exit status is 1 if one of them is required,
unless ``--optional`` is given.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAMP = ".requirements"

# Old versions of pip cannot read the Python requirements of newer releases, so all are
# pinned.  zarr-python 1 is compiled with the packages that are installed before it.
FOR_PYTHON_36 = (
    "pip==21.3.1",
    "setuptools==59.6.0 wheel==0.37.1 setuptools_scm==6.4.2 packaging==21.3 pyparsing==3.0.9"
    " tomli==1.2.3 cython==0.29.37 numpy==1.19.5 fasteners==0.18",
)


@dataclass(frozen=True, slots=True)
class Environment:
    """An old library with its dependencies.

    Parameters
    ----------
    pythons : tuple of str
        Supported versions of Python, the best first.
    steps : tuple of str
        Arguments of successive calls of pip.
    required : bool
        Whether the tests require it.
    """

    pythons: tuple[str, ...]
    steps: tuple[str, ...]
    required: bool = False


ENVIRONMENTS = {
    ".venv-zarr2": Environment(
        ("3.11", "3.12", "3.13"),
        (
            # The last numcodecs that unpickles, and a zfpy whose version it can read;
            # zarr-python needs pytest to decode shards.
            "--only-binary=:all: --no-binary=asciitree zarr==2.18.7 numcodecs==0.15.1 numpy<2.5 msgpack==1.1.2 crc32c==2.8 zfpy==1.0.1 lmdb==3.0.0 "
            "redis==8.1.0 pymongo==4.20.0"
            " pcodec==1.1.0 h5py==3.16.0 fsspec==2025.9.0 pytest==8.4.2",
        ),
        required=True,
    ),
    ".venv-zarr1": Environment(
        ("3.6",), (*FOR_PYTHON_36, "--no-build-isolation --no-deps zarr==1.1.0")
    ),
    ".venv-zarr1.0": Environment(
        ("3.6",), (*FOR_PYTHON_36, "--no-build-isolation --no-deps zarr==1.0.0")
    ),
}


def find_python(versions: tuple[str, ...]) -> str | None:
    """Find the first interpreter on the path that has one of the versions."""
    question = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    for version in versions:
        is_this = version == "{}.{}".format(*sys.version_info)
        program = sys.executable if is_this else shutil.which(f"python{version}")
        if program is not None:
            # The shim of pyenv fails if no version is selected.
            done = subprocess.run(
                [program, "-c", question], capture_output=True, text=True, check=False
            )
            if done.stdout.strip() == version:
                return program
    return None


def make(name: str) -> str | None:
    """Create one environment.

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
        return f"Python {' or '.join(environment.pythons)} is not on PATH"
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


def main(arguments: list[str]) -> int:
    """Create the requested environments, two at a time."""
    names = [name for name in arguments if name != "--optional"]
    names = names or list(ENVIRONMENTS)
    failed = False
    with ThreadPoolExecutor(2) as pool:
        for name, problem in zip(names, pool.map(make, names), strict=True):
            if problem is None:
                continue
            required = ENVIRONMENTS[name].required
            failed |= required
            print(
                f"{name} is not created, tests that need it are skipped: {problem}", file=sys.stderr
            )
    return int(failed and "--optional" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
