"""What one implementation writes, read by another one."""

import json
import sys

import pytest
from zarr_conformance.__main__ import main
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.runner.exchange import exchange, written_cases

READER = """
from zarr_conformance.adapters.zarr_core import ZarrCore
import os

class Reader(ZarrCore):
    def read(self, request):
        description, elements = super().read(request)
        {code}
        return description, elements

Reader().serve()
"""

FAULTS = {
    "pass": "same",
    "elements = elements + 1": "wrong",
    "raise ValueError('no')": "refused",
    "raise self._unsupported(request)": "unsupported",
    "os._exit(3)": "crash",
}


@pytest.mark.parametrize("code", FAULTS)
def test_each_outcome(code, tmp_path):
    cases = [it for it in written_cases(all_cases()) if it.id.startswith("v3-data-types/int16/")]
    assert len(cases) > 1
    (tmp_path / "reader.py").write_text(READER.format(code=code))
    ours = BUNDLED_ADAPTERS["zarr-core"].command()
    versions, pairs = exchange(
        {"ours": ours, "other": [sys.executable, str(tmp_path / "reader.py")]}, cases
    )
    assert versions == {"ours": "0.1.0", "other": "0.1.0"}
    found = {(it.writer, it.reader): dict(it.outcomes) for it in pairs}
    other = {FAULTS[code]: len(cases)}
    assert found == {
        ("ours", "ours"): {"same": len(cases)},
        ("ours", "other"): other,
        ("other", "ours"): {"same": len(cases)},
        ("other", "other"): other,
    }
    named = {it.reader: set(it.differences) for it in pairs if it.writer == "ours"}
    reported = (
        set() if code in ("pass", "raise self._unsupported(request)") else {it.id for it in cases}
    )
    assert named == {"ours": set(), "other": reported}


def test_cases_are_written_without_loss():
    """Otherwise what is read need not be what was written."""
    names = {json.dumps(it.document) for it in written_cases(all_cases())}
    assert len(names) > 100
    assert not any('"bitround"' in it or '"cast_value"' in it for it in names)


def test_command(tmp_path, capsys):
    only = ["--only", "v3-data-types/int8/*", "--json", str(tmp_path / "exchange.json")]
    assert main(["exchange", "--impl", "zarr-core", *only]) == 0
    assert capsys.readouterr().out.startswith("zarr-core -> zarr-core: same: ")
    found = json.loads((tmp_path / "exchange.json").read_text())
    assert found["implementations"] == {"zarr-core": "0.1.0"}
    assert found["pairs"][0]["differences"] == {}
    assert main(["exchange", "--impl", "nobody"]) == 2
    assert "no adapter for" in capsys.readouterr().err
