"""The commands: output and exit status."""

import json
import shlex
import subprocess
import sys
import tomllib
from xml.etree import ElementTree

import pytest
from zarr_conformance.__main__ import main
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.report.summary import NOTHING_ACCEPTED
from zarr_conformance.report.terminal import show_case
from zarr_conformance.runner.case_filter import select_cases
from zarr_conformance.runner.progress import Progress

# Opens anything as a group: wrong wherever a refusal is expected.
CREDULOUS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {"node_type": "group", "attributes": {}}
    if asked["operation"] == "capabilities":
        told = {"implementation": "credulous", "version": "1.0", "formats": [3], "operations": ["open"]}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""
ONLY = ["--only", "v3-core/group/zarr-format*", "--jobs", "1"]


@pytest.fixture
def credulous(tmp_path):
    script = tmp_path / "credulous.py"
    script.write_text(CREDULOUS)
    return ["run", "--command", shlex.join([sys.executable, str(script)]), *ONLY]


def test_zarr_core_passes(capsys):
    assert main(["run", "--impl", "zarr-core", *ONLY]) == 0
    told, errors = capsys.readouterr()
    assert told.startswith("zarr-core 0.1.0: ")
    assert told.rstrip().endswith("(100 % of those judged)")
    assert errors == ""


def test_failures_are_printed(credulous, capsys):
    assert main(credulous) == 1
    line, *failures = capsys.readouterr().out.splitlines()
    assert line.startswith("credulous 1.0: 0 passed of ")
    assert "; accepts invalid data: " in line
    assert "  v3-core/group/zarr-format-2: accepted; expected an error (metadata)" in failures


def test_a_run_that_accepts_nothing_fails(tmp_path, capsys):
    """An adapter that supports nothing has no failures, but does not conform either."""
    script = tmp_path / "nothing.py"
    error = '"error": {"category": "unsupported", "type": "No", "message": "no"}'
    script.write_text(
        CREDULOUS.replace(
            "    print(",
            f"    told = {{{error}}} if 'path' in asked else {{'result': told}}\n    print(",
        ).replace('"result": told}', "**told}")
    )
    run = ["run", "--command", shlex.join([sys.executable, str(script)])]
    assert main([*run, "--only", "v3-core/group/*"]) == 1
    line, *others = capsys.readouterr().out.splitlines()
    assert line.startswith("credulous 1.0: 0 passed of 0 judged of ")
    assert others == [f"  {NOTHING_ACCEPTED}"]


def test_baseline(credulous, tmp_path, capsys):
    file = tmp_path / "known.toml"
    assert main([*credulous, "--write-baseline", str(file)]) == 0
    known = tomllib.loads(file.read_text())["failures"]["credulous"]
    assert all(it.startswith("not examined yet: accepted") for it in known.values())

    capsys.readouterr()
    assert main([*credulous, "--baseline", str(file)]) == 0
    assert f"{len(known)} known" in capsys.readouterr().out

    removed, text = min(known), file.read_text()
    file.write_text("".join(it for it in text.splitlines(True) if f'"{removed}"' not in it))
    assert main([*credulous, "--baseline", str(file)]) == 1
    assert f"  {removed}: accepted" in capsys.readouterr().out

    file.write_text(text + '"v3-core/group/plain" = "it cannot"\n"no/such/case" = "gone"\n')
    assert main([*credulous, "--only", "v3-core/group/plain", "--baseline", str(file)]) == 1
    told = capsys.readouterr().out
    assert "v3-core/group/plain: no longer fails; remove it from" in told
    assert "no/such/case: no longer fails" in told


def test_output_files(credulous, tmp_path, capsys, monkeypatch):
    few = select_cases(list(all_cases()), ["v3-core/group/*"])
    for module in ("corpus.build", "runner.run_command", "report.commands"):
        monkeypatch.setattr(f"zarr_conformance.{module}.all_cases", lambda: iter(few))
    files = {it: tmp_path / f"results.{it}" for it in ("json", "junit", "html")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    assert main([*credulous, *options]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    results = json.loads(files["json"].read_text())
    assert results["version"] == 1
    assert results["runs"][0]["implementation"] == "credulous"
    ElementTree.parse(files["junit"])
    assert first in files["html"].read_text()

    merged = [str(files["json"]), str(files["json"])]
    assert main(["report", *merged, "--html", str(tmp_path / "both.html")]) == 0
    assert capsys.readouterr().out.splitlines() == [first, first.replace("1.0:", "1.0 1.0:")]


def test_several_implementations(credulous, capsys):
    assert main([*credulous, "--impl", "zarr-core"]) == 1
    lines = [it for it in capsys.readouterr().out.splitlines() if not it.startswith(" ")]
    assert [it.split()[0] for it in lines] == ["zarr-core", "credulous"]


def test_missing_implementation_does_not_stop_others(credulous, capsys):
    assert main([*credulous, "--command", "no-such-program"]) == 2
    told, errors = capsys.readouterr()
    assert told.startswith("credulous 1.0")
    assert "no-such-program failed: cannot be started" in errors


def test_corpus_option(credulous, tmp_path, capsys, monkeypatch):
    few = select_cases(list(all_cases()), ["v3-core/group/*"])  # test_archive builds all cases
    monkeypatch.setattr("zarr_conformance.corpus.build.all_cases", lambda: iter(few))
    folder = tmp_path / "corpus"
    assert main(["build", str(folder)]) == 0
    assert f"cases in {folder}" in capsys.readouterr().out
    assert main([*credulous, "--corpus", str(folder)]) == 1
    own = capsys.readouterr().out
    archive = tmp_path / "corpus-{version}.tar.gz"
    assert main(["build", str(archive)]) == 0
    archive = next(tmp_path.glob("corpus-0.1.0+*.tar.gz"))
    assert main([*credulous, "--corpus", str(archive)]) == 1
    assert capsys.readouterr().out.endswith(own)
    (folder / "stores/v3-core/group/zarr-format-2/zarr.json").write_text("{}")
    assert main([*credulous, "--corpus", str(folder)]) == 2
    assert "the digest of v3-core/group/zarr-format-2 does not match" in capsys.readouterr().err
    assert main(["build", str(folder)]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run"], "pass --impl NAME"),
        (["run", "--impl", "nobody"], "no adapter for 'nobody'"),
        (["run", "--impl", "zarr-core", "--only", "no/such"], "no case matches no/such"),
        (["run", "--impl", "zarr-core", "--corpus", "{tmp}"], "is not a corpus"),
        (["run", "--impl", "zarr-core", "--baseline", "{tmp}/none"], "none"),
        (["show", "no/such"], "no case matches no/such"),
        (["clauses", "v9"], "unknown specification 'v9'"),
        (["report", "{tmp}/none"], "none"),
        (["report", __file__], "not valid JSON"),
    ],
)
def test_usage_errors(arguments, told, tmp_path, capsys):
    assert main([it.replace("{tmp}", str(tmp_path)) for it in arguments]) == 2
    assert told in capsys.readouterr().err


def test_show_case(tmp_path, capsys):
    case = next(all_cases())
    assert main(["show", case.id, "--store", str(tmp_path / "store")]) == 0
    told = capsys.readouterr().out
    for part in (case.summary, *case.clauses, *case.store, "expected: must succeed", "--only"):
        assert part in told
    assert (tmp_path / "store" / "zarr.json").read_bytes() == case.store["zarr.json"]
    assert main(["show", "v3-core/array/without"]) == 0
    assert "v3-core/array/without-shape\n" in capsys.readouterr().out


def test_show_every_case():
    for case in all_cases():
        told = show_case(case)
        assert case.summary in told
        assert "\x1b" not in told


def test_clauses(capsys):
    assert main(["clauses", "v3-core"]) == 0
    told = capsys.readouterr().out
    assert "must       v3-core.array.shape  [" in told
    assert " of them tested, " in told
    assert main(["clauses"]) == 0
    assert len(capsys.readouterr().out) > len(told)


def test_implementations(capsys):
    assert main(["implementations"]) == 0
    assert "zarr-core        installed" in capsys.readouterr().out


def test_no_progress_in_a_pipe():
    command = [sys.executable, "-m", "zarr_conformance", "run", "--impl", "zarr-core", *ONLY]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_progress_only_on_terminals(capsys):
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    case = next(all_cases())
    progress = Progress("ours", 3, terminal)
    for grade in ("pass", "fail"):
        progress._drawn = 0
        progress(type("Outcome", (), {"case": case, "verdict": type("V", (), {"grade": grade})}))
    assert "2/3, 1 failed" in terminal.text
    progress.close()
    assert terminal.text.endswith("\r\x1b[K")


def test_case_filters():
    cases = list(all_cases())
    plain = select_cases(cases, ["v3-core/array/plain"])
    assert [it.id for it in plain] == ["v3-core/array/plain"]
    by_clause = select_cases(cases, ["v3-core.array.shape"])
    assert len(by_clause) > 5
    assert all("v3-core.array.shape" in " ".join(it.clauses) for it in by_clause)
    assert {it.id for it in select_cases(cases, ["v3-core/array/without-*"])} < {
        it.id for it in cases
    }
    assert select_cases(cases, []) == cases
