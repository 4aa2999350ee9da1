"""The report of missing servers contains the commands to install them."""

import re
import runpy

import pytest
from servers import places, report

SCRIPT = places.ROOT / "scripts" / "install_servers.py"
NAMES = re.compile(r"(pip|apt-get|npm) install ([^,)]+)")


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A machine without servers."""
    monkeypatch.delenv(places.NO_SERVERS, raising=False)
    monkeypatch.setenv("ZARR_CORE_SERVERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(places, "DAEMONS", ())


def test_the_report_contains_commands_for_missing_servers(nothing, capsys):
    count = len(report.KINDS) - 1
    assert report.main() == count
    out, err = capsys.readouterr()
    assert out == "servers for the tests: http\n"
    assert len(err.splitlines()) == err.count("make servers") == count
    assert "azure: Azurite is not installed: install Node.js" in err
    assert report.main(names=True) == count
    err = capsys.readouterr().err
    assert err.startswith("not installed: redis, mongo, ")
    assert "make servers" not in err


def test_the_script_installs_the_reported_servers(nothing, capsys, monkeypatch):
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
