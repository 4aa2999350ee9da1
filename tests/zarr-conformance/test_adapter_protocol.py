"""The protocol of adapters: what serves it in Python, what talks to those that do not keep it."""

import ast
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from zarr_conformance.adapters import serving
from zarr_conformance.adapters.serving import (
    Adapter,
    UnsupportedError,
    as_bytes,
    as_elements,
    dtype_of,
    index,
)
from zarr_conformance.running.conversation import (
    AdapterDiedError,
    AdapterTimeoutError,
    Conversation,
)

NOISY = """
import os, sys
import numpy as np
from zarr_conformance.adapters.serving import Adapter

class Noisy(Adapter):
    implementation = "noisy"
    formats = (2, 3)
    operations = ("open", "read")

    def version(self):
        return "1"

    def open(self, asked):
        print("a library prints")
        os.write(1, b"so does one in another language\\n")
        if asked["path"] == "wrong":
            raise ValueError("wrong " * 1000)
        if asked["path"] == "panic":
            raise BaseException("a panic")
        return {"node_type": "group", "path": asked["path"]}

    def read(self, asked):
        return {"node_type": "array"}, np.arange(3, dtype=">i2")

Noisy().serve()
"""


@pytest.fixture
def talk(tmp_path):
    """Starts a program in Python; ended with the test."""
    begun = []

    def start(code, memory=0):
        program = tmp_path / "program.py"
        program.write_text(code)
        begun.append(Conversation([sys.executable, str(program)], tmp_path / "log", memory))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def test_answers_come_in_the_order_of_the_requests(talk):
    conversation = talk(NOISY)
    told = conversation.ask(30, "capabilities")["result"]
    assert told == {
        "implementation": "noisy",
        "version": "1",
        "formats": [2, 3],
        "operations": ["open", "read"],
    }
    paths = [conversation.ask(30, "open", path=str(n))["result"]["path"] for n in range(50)]
    assert paths == [str(n) for n in range(50)]


def test_what_libraries_print_is_no_answer(talk, tmp_path):
    conversation = talk(NOISY)
    assert conversation.ask(30, "open", path="a")["result"]["node_type"] == "group"
    conversation.close()
    log = (tmp_path / "log").read_text()
    assert "a library prints" in log
    assert "so does one in another language" in log


def test_errors_are_answers_panics_too(talk):
    conversation = talk(NOISY)
    wrong = conversation.ask(30, "open", path="wrong")["error"]
    assert (wrong["category"], wrong["type"]) == ("other", "ValueError")
    assert wrong["message"].startswith("wrong wrong")
    assert len(wrong["message"]) <= 2000
    assert conversation.ask(30, "open", path="panic")["error"]["type"] == "BaseException"
    assert conversation.ask(30, "list")["error"]["category"] == "unsupported"
    assert conversation.ask(30, "fly")["error"]["type"] == "KeyError"
    assert "result" in conversation.ask(30, "capabilities")


def test_elements_are_in_a_file(talk, tmp_path):
    answer = talk(NOISY).ask(30, "read", into=str(tmp_path / "into"))
    assert answer["result"] == {"node_type": "array", "kind": "raw"}
    assert (tmp_path / "into").read_bytes() == b"\0\0\1\0\2\0"


@pytest.mark.parametrize(
    ("elements", "data", "kind"),
    [
        (np.array([[1, 2], [3, 4]], ">u2", order="F"), b"\1\0\2\0\3\0\4\0", "raw"),
        (np.array([1 + 2j], ">c8"), np.array([1, 2], "<f4").tobytes(), "raw"),
        (np.array([(1, 2)], [("a", ">u2"), ("b", "u1")]), b"\1\0\2", "raw"),
        (np.bool_(True), b"\1", "raw"),
        (np.array(["é", ""], "T"), '["é", ""]'.encode(), "json"),
        (np.array([b"\0", b""], "O"), b'["AA==", ""]', "json"),
    ],
)
def test_elements_as_bytes(elements, data, kind):
    assert as_bytes(elements) == (data, kind)


def test_elements_out_of_bytes():
    raw = {"kind": "raw"}
    got = as_elements(b"\1\0\2\0", raw, np.dtype(">u2"), [2, 1])
    assert got.dtype == ">u2"
    assert got.tolist() == [[1], [2]]
    document = {"kind": "json", "document": {"data_type": "variable_length_bytes"}}
    assert as_elements(b'["AA=="]', document, np.dtype("O"), [1]).tolist() == [b"\0"]
    document["document"] = {"dtype": "|O"}
    assert as_elements(b'["AA=="]', document, np.dtype("O"), [1]).tolist() == ["AA=="]
    assert as_elements(b'["a", "bb"]', document, np.dtype("T"), [2]).tolist() == ["a", "bb"]


def test_what_is_asked_as_numpy_takes_it():
    assert index({}) is ...
    assert index({"selection": [[0, 4, 2], [1, 2, 1]]}) == (slice(0, 4, 2), slice(1, 2, 1))
    nested = dtype_of([["a", "<i4", [2]], ["b", [["c", "|u1"]]]])
    assert np.dtype(nested) == [("a", "<i4", (2,)), ("b", [("c", "u1")])]


def test_what_is_not_offered():
    class Least(Adapter):
        implementation = "least"

        def version(self):
            return ""

        def open(self, asked):
            return {}

    for operation in ("read", "list", "update", "create"):
        asked = {"id": 1, "operation": operation, "zarr_format": 3, "store": "", "path": ""}
        answer = Least().answer(asked | {"into": "", "attributes": {}, "document": {}})
        assert answer["error"]["category"] == "unsupported"
        assert operation in answer["error"]["message"]
    assert Least().category(UnsupportedError()) == "unsupported"


def test_the_file_may_be_copied_to_an_old_python():
    text = Path(serving.__file__).read_text()
    tree = ast.parse(text, feature_version=(3, 8))
    assert "zarr_conformance" not in {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }


# --- programs that do not keep it ---


def test_a_program_that_dies(talk):
    with pytest.raises(AdapterDiedError, match="exit status 3"):
        talk("import sys; sys.stdin.readline(); sys.exit(3)").ask(30, "open")
    with pytest.raises(AdapterDiedError, match="SIGSEGV"):
        talk("import os; input(); os.kill(os.getpid(), 11)").ask(30, "open")
    with pytest.raises(AdapterDiedError, match="it ended"):
        talk("input()").ask(30, "open")


def test_a_program_that_hangs_is_killed_with_its_children(talk, tmp_path):
    child = "import time, pathlib; time.sleep(1.5); pathlib.Path('CHILD').touch()"
    marker = tmp_path / "child"
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child.replace('CHILD', str(marker))!r}])\n"
        "time.sleep(60)"
    )
    start = time.monotonic()
    with pytest.raises(AdapterTimeoutError):
        talk(code).ask(0.7, "open")
    assert time.monotonic() - start < 10
    time.sleep(1.5)
    assert not marker.exists()


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "[]",
        "{}",
        '{"id": 2, "result": {}}',
        '{"id": 1}',
        '{"id": 1, "result": {}, "error": {}}',
    ],
)
def test_a_program_that_talks_nonsense(talk, line):
    with pytest.raises(AdapterDiedError, match="not an answer"):
        talk(f"input(); print({line!r}, flush=True); input()").ask(30, "open")


def test_a_program_that_eats_memory(talk):
    with pytest.raises(Exception, match="MiB|exit status"):
        talk("import time; x = b'x' * (300 << 20); time.sleep(30)", 150 << 20).ask(20, "open")


def test_requests_are_lines_of_json(talk):
    echo = (
        "import json\nwhile True:\n    asked = input()\n"
        "    print(json.dumps({'id': json.loads(asked)['id'], 'result': {'line': asked}}), flush=True)"
    )
    conversation = talk(echo)
    line = conversation.ask(30, "open", path="a\nb é")["result"]["line"]
    assert json.loads(line) == {"id": 1, "operation": "open", "path": "a\nb é"}
    assert json.loads(conversation.ask(30, "read")["result"]["line"])["id"] == 2
