"""Run all cases with the pinned versions of all implementations, and write docs/conformance.md.

``make conformance`` installs the environments of ``conformance_peers.toml`` in
``.venv-conformance``, runs zarr-core and the implementations in them, and stores the results as
``document_conformance.py --keep`` does. It needs the Python versions that the file names, on the
``PATH`` or installed by pyenv, and npm for Node.js.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS = Path(__file__).with_name("conformance_peers.toml")
FOLDER = ROOT / ".venv-conformance"
SECONDS = "60"  # the time limit for a case, also on a busy machine
EXCHANGE = str(ROOT / "docs" / "conformance-exchange.json")


def main() -> int:
    """Install, run and document."""
    environments = tomllib.loads(PEERS.read_text("utf-8"))["environments"]
    FOLDER.mkdir(exist_ok=True)
    results = [run("zarr-core", ["zarr-core"], {})]
    names = ["zarr-core"]
    together: dict[str, str] = {}
    for name, environment in environments.items():
        variables = install(name, environment)
        results.append(run(name, environment["runs"], variables, environment.get("name")))
        if "name" not in environment:  # another version of an implementation
            names += environment["runs"]
            together |= variables
    words = [word for it in names for word in ("--impl", it)]
    exchanged = [sys.executable, "-m", "zarr_conformance", "exchange", *words, "--json", EXCHANGE]
    subprocess.run(exchanged, env=os.environ | together, check=False)
    remove_paths(Path(EXCHANGE))
    files = [str(it) for it in results]
    script = str(ROOT / "scripts" / "document_conformance.py")
    return subprocess.run([sys.executable, script, "--keep", *files], check=False).returncode


def install(name: str, environment: dict[str, Any]) -> dict[str, str]:
    """Install an environment and return the variables by which adapters find it.

    Raises
    ------
    SystemExit
        If its Python or npm is not installed, or the installation fails.
    """
    folder = FOLDER / name
    if npm := environment.get("npm"):
        execute("npm", "install", "--silent", "--no-save", "--prefix", str(folder), *npm)
        return {"NODE_PATH": str(folder / "node_modules")}
    python = folder / "bin" / "python"
    if not python.exists():
        execute(find_python(environment["python"]), "-m", "venv", str(folder))
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    execute(*pip, *environment["packages"])
    return {
        f"ZARR_CONFORMANCE_{it.upper().replace('-', '_')}": str(python)
        for it in environment["runs"]
    }


def find_python(version: str) -> str:
    """Return an interpreter of a version.

    Raises
    ------
    SystemExit
        If it is not installed.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python"))
    candidates = [*map(str, found), f"python{version}"]
    for candidate in candidates:
        if shutil.which(candidate):
            return candidate
    raise SystemExit(f"Python {version} is not installed; install it to reproduce the results")


def run(name: str, runs: list[str], variables: dict[str, str], shown: str | None = None) -> Path:
    """Run the cases, and return the file of the results."""
    file = FOLDER / f"{name}.json"
    file.unlink(missing_ok=True)
    names = [word for it in runs for word in ("--impl", it)]
    command = [
        *(sys.executable, "-m", "zarr_conformance", "run", *names),
        *("--seconds", SECONDS, "--json", str(file)),
    ]
    done = subprocess.run(command, env=os.environ | variables, check=False)
    if done.returncode not in (0, 1) or not file.exists():
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    remove_paths(file)
    if shown is not None:
        content = json.loads(file.read_text("utf-8"))
        for it in content["runs"]:
            it["name"] = shown
        file.write_text(json.dumps(content), "utf-8")
    return file


def remove_paths(file: Path) -> None:
    """Remove the path of this checkout, which messages of implementations contain."""
    text = file.read_text("utf-8")
    file.write_text(text.replace(f"file://{ROOT}/", "").replace(f"{ROOT}/", ""), "utf-8")


def execute(*command: str) -> None:
    """Run a program; raise SystemExit if it fails."""
    try:
        done = subprocess.run(command, check=False)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is not installed") from None
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
