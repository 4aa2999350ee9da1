"""Whatever an adapter does is a result: it dies, hangs, floods, eats memory, or lies."""

import sys
import threading
import time

import pytest
from zarr_conformance.corpus.build import build
from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.running import conversation
from zarr_conformance.running.conversation import (
    AdapterDiedError,
    AdapterTimeoutError,
    Conversation,
    Limits,
)
from zarr_conformance.running.run import Implementation, run

# An adapter without any library; the path of a case says what it does with it.
ADAPTER = """
import json, os, pathlib, subprocess, sys, time

def answer(asked):
    what = asked.get("path", "")
    if asked["operation"] == "capabilities":
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
        time.sleep(60)
    if what == "child":
        subprocess.run([sys.executable, "-c", "import time; b = bytearray(300 << 20); time.sleep(60)"])
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
        open(os.path.join(asked["store"], "lock"), "w").close()
    if what == "update":
        with open(os.path.join(asked["store"], "zarr.json"), "w") as file:
            json.dump({"attributes": asked["attributes"]}, file)
    if asked["operation"] == "read":
        pathlib.Path(asked["into"]).write_bytes(b"\\1\\2")
    return {"node_type": "group"}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        told = {"result": answer(asked)}
    except MemoryError as error:
        told = {"error": {"category": "other", "type": "MemoryError", "message": str(error)}}
    print(json.dumps({"id": asked["id"], **told}), flush=True)
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
        limits = options.pop("limits", Limits(seconds=20))
        implementation = Implementation("bad", [sys.executable, str(script)])
        done = run(implementation, tmp_path / "corpus", cases, limits=limits, **options)
        return {it.case.path: it for it in done.outcomes}

    return judged


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("exit", "the process died: exit status 3; last words: Fatal: \x1b[31mall is lost"),
        ("abort", "the process died: killed by SIGABRT"),
        ("junk", "the process died: not an answer: b'Traceback"),
        ("flood", "the process died: not an answer"),
        ("memory-error", "took more memory than it may: MemoryError: too much"),
    ],
)
def test_an_end_is_a_result_and_the_next_case_is_asked(what, told, outcomes):
    found = outcomes(case("a"), case(what), case("b"), case("c"), jobs=1)
    assert {it: found[it].verdict.grade for it in found} == {
        "a": "pass", what: "crash", "b": "pass", "c": "pass",
    }  # fmt: skip
    assert found[what].verdict.reason.startswith(told)


def test_a_hang_is_a_result(outcomes):
    started = time.perf_counter()
    found = outcomes(case("hang"), case("a"), limits=Limits(seconds=0.5), jobs=1)
    assert time.perf_counter() - started < 15
    assert found["hang"].answer.outcome == "timeout"
    assert found["hang"].verdict.grade == "crash"
    assert found["a"].verdict.grade == "pass"


@pytest.mark.parametrize("what", ["eat", "child"])
def test_a_hunger_for_memory_is_a_result(what, outcomes):
    found = outcomes(case(what), case("a"), limits=Limits(memory=100 << 20), jobs=1)
    assert found[what].answer.outcome == "memory"
    assert "of 100 MiB that it may take" in found[what].verdict.reason
    assert found["a"].verdict.grade == "pass"


def test_a_line_without_end_fills_no_memory(outcomes, monkeypatch):
    monkeypatch.setattr(conversation, "LONGEST_LINE", 1 << 20)
    found = outcomes(case("endless"), case("a"), jobs=1)
    assert found["endless"].answer.outcome == "crash"
    assert found["a"].verdict.grade == "pass"


def test_long_last_words_are_told_by_their_beginning_and_end(outcomes):
    reason = outcomes(case("talk"))["talk"].verdict.reason
    assert "last words: panicked.." in reason
    assert reason.endswith("..aborting")
    assert len(reason) < 2000


def test_a_crash_is_no_refusal(outcomes):
    found = outcomes(case("exit", Reject("metadata")))
    assert found["exit"].verdict.grade == "crash"


def test_who_writes_while_reading_is_remarked_and_spoils_nothing(outcomes, tmp_path):
    found = outcomes(case("late"), case("a"))
    assert "changed the store" in found["late"].verdict.remark
    assert [it.name for it in (tmp_path / "corpus/stores/t/t/late").iterdir()] == ["zarr.json"]
    assert found["a"].verdict.remark == ""


def test_changes_are_made_in_a_copy(outcomes, tmp_path):
    expect = Accept(Node(documents={"zarr.json": {"attributes": {"harness": 1}}}))
    found = outcomes(case("update", expect, operation="update"))
    assert found["update"].verdict.grade == "pass"
    assert (tmp_path / "corpus/stores/t/t/update/zarr.json").read_bytes() == b"{}"


def test_elements_of_one_case_are_not_those_of_the_next(outcomes):
    wanted = Accept(Node(values=Values(b"\1\2")))
    found = outcomes(
        case("a", wanted, operation="read"), case("junk", wanted, operation="read"), jobs=1
    )
    assert found["a"].verdict.grade == "pass"
    assert found["junk"].answer.values is None


def test_what_is_not_offered_is_not_asked(outcomes):
    found = outcomes(case("a", operation="list"), case("b", zarr_format=2))
    assert {it.verdict.grade for it in found.values()} == {"unsupported"}


def test_outcomes_come_in_the_order_of_the_cases_by_as_many_as_wanted(outcomes):
    cases = [case(f"n{number}") for number in range(40)]
    seen = []
    found = outcomes(*cases, jobs=4, progress=seen.append)
    assert list(found) == [it.path for it in cases]
    assert len(seen) == 40


def test_a_program_that_is_none_is_told(tmp_path):
    build(tmp_path / "corpus", [])
    with pytest.raises(AdapterDiedError, match="cannot be started"):
        run(Implementation("none", [str(tmp_path / "none")]), tmp_path / "corpus", [])


@pytest.mark.parametrize("told", ["{}", "[1]", '{"implementation": 1}'])
def test_who_does_not_tell_what_it_can_do_is_told(told, tmp_path):
    build(tmp_path / "corpus", [])
    program = f'import sys\nsys.stdin.readline()\nprint(\'{{"id": 1, "result": {told}}}\')'
    with pytest.raises(AdapterDiedError, match="not"):
        run(Implementation("mute", [sys.executable, "-c", program]), tmp_path / "corpus", [])


def test_who_never_says_anything_is_told(tmp_path):
    build(tmp_path / "corpus", [])
    mute = Implementation("mute", [sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(AdapterTimeoutError):
        run(mute, tmp_path / "corpus", [], limits=Limits(start=0.2))


def test_an_interrupt_ends_all_of_it(outcomes):
    def stop(_):
        raise KeyboardInterrupt

    before = threading.enumerate()
    with pytest.raises(KeyboardInterrupt):
        outcomes(*[case(f"n{number}") for number in range(20)], progress=stop)
    assert [it for it in threading.enumerate() if it not in before] == []


def test_a_conversation_that_is_over_can_be_closed_again(tmp_path):
    talk = Conversation([sys.executable, "-c", ""], tmp_path / "log")
    with pytest.raises(AdapterDiedError):
        talk.ask(20, "open")
    talk.close()
