"""The script of ``make servers``: installations and reports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "install_servers.py"
CERTIFICATE = """\
npm error code SELF_SIGNED_CERT_IN_CHAIN
npm error request to https://registry.npmjs.org/azurite failed, reason: self-signed certificate"""
NETWORK = "npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org failed"
BROKEN = "npm error code EBADENGINE\nnpm error this one needs a newer Node.js"


@pytest.fixture
def install(tmp_path):
    """Run one installer of the script on a machine that has only the given programs."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()

    def call(name, **programs):
        for program, text in programs.items():
            file = bin_ / program.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{text}\n")
            file.chmod(0o755)
        code = (
            f"import json, runpy; script = runpy.run_path({str(SCRIPT)!r}); "
            "script['os'].geteuid = lambda: 1000; "
            "script['Path'].glob = lambda *_: iter(()); "  # nothing below /usr
            f"print(json.dumps(script[{name!r}]()))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PATH": str(bin_), "ZARR_CORE_SERVERS": str(tmp_path / "servers")},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout.splitlines()[-1])

    return call


@pytest.mark.parametrize(
    ("told", "advice"),
    [
        (CERTIFICATE, "set the certificate authority (npm config set cafile FILE"),
        (NETWORK, "check the network, HTTPS_PROXY and npm config get registry"),
        (BROKEN, "Repair the reported problem"),
    ],
)
def test_a_failure_of_npm_is_reported_with_its_cause_and_what_to_do(install, told, advice):
    (problem,) = install("from_npm", npm=f"echo '{told}' >&2; exit 1")
    assert problem.startswith("azurite@")
    assert "zarrita@" in problem
    assert advice in problem
    for line in told.splitlines():
        assert line in problem


def test_npm_that_fails_without_a_word(install):
    (problem,) = install("from_npm", npm="exit 7")
    assert "exit status 7" in problem


def test_a_machine_without_npm(install):
    (problem,) = install("from_npm")
    assert "npm is not installed. Install Node.js with npm" in problem


def test_npm_that_works_is_not_a_problem(install):
    assert install("from_npm", npm="exit 0") == []


def test_without_root_the_command_is_shown_and_not_run(install, tmp_path):
    (problem,) = install("from_apt", apt_get=f"echo called > {tmp_path / 'called'}")
    assert "only root can install them: apt-get install" in problem
    assert "redis-server" in problem
    assert not (tmp_path / "called").exists()


def test_a_system_without_apt(install):
    (problem,) = install("from_apt")
    assert "apt-get is not installed" in problem
