"""Results of adapters that crash, hang, write too much or use too much memory; other systems."""

import subprocess
import sys
import threading

import pytest
from waits import PATIENCE
from zarr_conformance.corpus.build import build
from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.runner import adapter_process
from zarr_conformance.runner.adapter_process import (
    AdapterDiedError,
    AdapterProcess,
    AdapterTimeoutError,
    Limits,
)
from zarr_conformance.runner.run import Implementation, run

# An adapter without any library; the path of a case says what it does with it.
ADAPTER = """
import json, os, pathlib, subprocess, sys, time

def respond(request):
    what = request.get("path", "")
    if request["operation"] == "capabilities":
        print("started", file=sys.stderr, flush=True)
        return {"implementation": "bad", "version": "1", "formats": [3],
                "operations": ["open", "read", "update"]}
    if what == "exit":
        print("Fatal: \\x1b[31mall is lost", file=sys.stderr, flush=True)
        os._exit(3)
    if what == "talk":
        print("panicked" + "." * 100000 + "aborting", file=sys.stderr, flush=True)
        os._exit(1)
    if what == "abort":
        os.abort()
    if what == "hang":
        time.sleep(3600)
    if what == "child":
        subprocess.run([sys.executable, "-c", "import time; b = bytearray(300 << 20); time.sleep(3600)"])
    if what == "eat":
        hoard = []
        while True:
            hoard.append(bytearray(10 << 20))
            time.sleep(0.001)
    if what == "flood":
        for _ in range(100000):
            print(json.dumps({"id": 0, "result": {}}))
    if what == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if what == "junk":
        print("Traceback (most recent call last):")
    if what == "memory-error":
        raise MemoryError("too much")
    if what == "late":
        open(os.path.join(request["store"], "lock"), "w").close()
    if what == "update":
        with open(os.path.join(request["store"], "zarr.json"), "w") as file:
            json.dump({"attributes": request["attributes"]}, file)
    if request["operation"] == "read":
        pathlib.Path(request["into"]).write_bytes(b"\\1\\2")
    return {"node_type": "group"}

for line in sys.stdin:
    request = json.loads(line)
    try:
        told = {"result": respond(request)}
    except MemoryError as error:
        told = {"error": {"category": "other", "type": "MemoryError", "message": str(error)}}
    print(json.dumps({"id": request["id"], **told}), flush=True)
"""


def case(what, expect=None, **members):
    expect = expect or Accept(Node("group"))
    return Case(f"t/t/{what}", (), "It is.", members.pop("operation", "open"), expect, {"zarr.json": b"{}"}, what, **members)  # fmt: skip


@pytest.fixture
def outcomes(tmp_path):
    script = tmp_path / "adapter.py"
    script.write_text(ADAPTER)

    def judged(*cases, **options):
        build(tmp_path / "corpus", cases)
        limits = options.pop("limits", Limits(seconds=PATIENCE))
        implementation = Implementation("bad", [sys.executable, str(script)])
        done = run(implementation, tmp_path / "corpus", cases, limits=limits, **options)
        return {it.case.path: it for it in done.outcomes}

    return judged


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("exit", "the process died: exit status 3; stderr: Fatal: \x1b[31mall is lost"),
        ("abort", "the process died: killed by SIGABRT"),
        ("junk", "the process died: invalid response: b'Traceback"),
        ("flood", "the process died: invalid response"),
        ("memory-error", "memory limit exceeded: MemoryError: too much"),
    ],
)
def test_crashes_are_results_and_the_run_continues(what, told, outcomes):
    found = outcomes(case("a"), case(what), case("b"), case("c"), jobs=1)
    assert {it: found[it].verdict.grade for it in found} == {
        "a": "pass", what: "crash", "b": "pass", "c": "pass",
    }  # fmt: skip
    assert found[what].verdict.reason.startswith(told)


def test_timeouts_are_results(outcomes):
    # Much for a response, though not for the one that never comes.
    found = outcomes(case("hang"), case("a"), limits=Limits(seconds=4), jobs=1)
    assert found["hang"].response.outcome == "timeout"
    assert found["hang"].verdict.grade == "crash"
    assert found["a"].verdict.grade == "pass"


@pytest.mark.parametrize("what", ["eat", "child"])
def test_memory_limit(what, outcomes):
    found = outcomes(
        case(what), case("a"), limits=Limits(seconds=PATIENCE, memory=100 << 20), jobs=1
    )
    assert found[what].response.outcome == "memory"
    assert "the limit is 100 MiB" in found[what].verdict.reason
    assert found["a"].verdict.grade == "pass"


def test_endless_lines_do_not_fill_memory(outcomes, monkeypatch):
    monkeypatch.setattr(adapter_process, "LONGEST_LINE", 1 << 20)
    found = outcomes(case("endless"), case("a"), jobs=1)
    assert found["endless"].response.outcome == "crash"
    assert found["a"].verdict.grade == "pass"


def test_long_stderr_is_truncated(outcomes):
    reason = outcomes(case("talk"))["talk"].verdict.reason
    assert "stderr: panicked.." in reason
    assert reason.endswith("..aborting")
    assert len(reason) < 2000


def test_crashes_are_not_errors(outcomes):
    found = outcomes(case("exit", Reject("metadata")))
    assert found["exit"].verdict.grade == "crash"


def test_writing_while_reading_is_a_remark(outcomes, tmp_path):
    found = outcomes(case("late"), case("a"))
    assert "changed the store" in found["late"].verdict.remark
    assert [it.name for it in (tmp_path / "corpus/stores/t/t/late").iterdir()] == ["zarr.json"]
    assert found["a"].verdict.remark == ""


def test_operations_change_a_copy(outcomes, tmp_path):
    expect = Accept(Node(documents={"zarr.json": {"attributes": {"harness": 1}}}))
    found = outcomes(case("update", expect, operation="update"))
    assert found["update"].verdict.grade == "pass"
    assert (tmp_path / "corpus/stores/t/t/update/zarr.json").read_bytes() == b"{}"


def test_elements_are_not_reused_for_the_next_case(outcomes):
    wanted = Accept(Node(values=Values(b"\1\2")))
    found = outcomes(
        case("a", wanted, operation="read"), case("junk", wanted, operation="read"), jobs=1
    )
    assert found["a"].verdict.grade == "pass"
    assert found["junk"].response.values is None


def test_unsupported_operations_are_not_run(outcomes):
    found = outcomes(case("a", operation="list"), case("b", zarr_format=2))
    assert {it.verdict.grade for it in found.values()} == {"unsupported"}


def test_outcomes_are_in_the_order_of_cases(outcomes):
    cases = [case(f"n{number}") for number in range(40)]
    seen = []
    found = outcomes(*cases, jobs=4, progress=seen.append)
    assert list(found) == [it.path for it in cases]
    assert len(seen) == 40


def test_missing_program(tmp_path):
    build(tmp_path / "corpus", [])
    with pytest.raises(AdapterDiedError, match="cannot be started"):
        run(Implementation("none", [str(tmp_path / "none")]), tmp_path / "corpus", [])


@pytest.mark.parametrize("told", ["{}", "[1]", '{"implementation": 1}'])
def test_invalid_capabilities(told, tmp_path):
    build(tmp_path / "corpus", [])
    program = f'import sys\nsys.stdin.readline()\nprint(\'{{"id": 1, "result": {told}}}\')'
    with pytest.raises(AdapterDiedError, match="^invalid"):
        run(Implementation("mute", [sys.executable, "-c", program]), tmp_path / "corpus", [])


def test_no_response(tmp_path):
    build(tmp_path / "corpus", [])
    mute = Implementation("mute", [sys.executable, "-c", "import time; time.sleep(3600)"])
    with pytest.raises(AdapterTimeoutError):
        run(mute, tmp_path / "corpus", [], limits=Limits(start=0.2))


def test_interrupt_ends_all_adapters(outcomes):
    def stop(_):
        raise KeyboardInterrupt

    before = threading.enumerate()
    with pytest.raises(KeyboardInterrupt):
        outcomes(*[case(f"n{number}") for number in range(20)], progress=stop)
    assert [it for it in threading.enumerate() if it not in before] == []


def test_closing_twice(tmp_path):
    talk = AdapterProcess([sys.executable, "-c", ""], tmp_path / "log")
    with pytest.raises(AdapterDiedError):
        talk.request(PATIENCE, "open")
    talk.close()


WITHOUT = """
import os, sys
sys.modules["resource"] = None
for name in ("killpg", "sysconf", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import subprocess
begin = subprocess.Popen.__init__

def checked(self, *arguments, **options):
    assert not options.pop("start_new_session", False)
    assert options.pop("creationflags", 0) == 0x200
    begin(self, *arguments, **options)

import zarr_conformance.runner.adapter_process as it
it._POSIX = False
it._resident = lambda leader: 0
subprocess.Popen.__init__ = checked
from zarr_conformance.__main__ import main
sys.exit(main(sys.argv[1:]))
"""

CRASHING = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "shape-text" in asked.get("store", ""):
        os._exit(5)
    told = {"node_type": "array"}
    if asked["operation"] == "capabilities":
        told = {"protocol": 1, "implementation": "crashing", "version": "1", "formats": [3], "operations": ["open"]}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""


def test_run_without_posix(tmp_path):
    """Crashes are still results, and the run continues."""
    (tmp_path / "program.py").write_text(WITHOUT)
    (tmp_path / "adapter.py").write_text(CRASHING)
    command = [
        *(sys.executable, "program.py", "run", "--command", f"{sys.executable} adapter.py"),
        *("--only", "v3-core/array/shape-text", "--only", "v3-core/array/shape-n*", "--jobs", "2"),
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE * 3
    )
    assert done.stderr == ""
    assert done.returncode == 1
    assert "crash or hang: 1" in done.stdout
    assert "exit status 5" in done.stdout
