"""The adapter protocol: the base class for Python, and adapters that violate it."""

import ast
import json
import os
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from servers import process_tree
from waits import PATIENCE, wait_until
from zarr_conformance.adapters import adapter as adapter_module
from zarr_conformance.adapters.adapter import (
    Adapter,
    UnsupportedError,
    as_bytes,
    as_elements,
    dtype_of,
    index,
)
from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.runner.adapter_process import (
    AdapterDiedError,
    AdapterProcess,
    AdapterTimeoutError,
)
from zarr_conformance.runner.protocol import create_request

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "conformance" / "protocol.json").read_text("utf-8")
)

NOISY = """
import os, sys
import numpy as np
from zarr_conformance.adapters.adapter import Adapter

class Noisy(Adapter):
    implementation = "noisy"
    formats = (2, 3)
    operations = ("open", "read")

    def version(self):
        return "1"

    def open(self, request):
        print("a library prints")
        os.write(1, b"so does one in another language\\n")
        if request["path"] == "wrong":
            raise ValueError("wrong " * 1000)
        if request["path"] == "panic":
            raise BaseException("a panic")
        return {"node_type": "group", "path": request["path"]}

    def read(self, request):
        return {"node_type": "array"}, np.arange(3, dtype=">i2")

Noisy().serve()
"""


@pytest.fixture
def talk(tmp_path):
    """Start a Python program, which is ended with the test."""
    begun = []

    def start(code, memory=0):
        program = tmp_path / "program.py"
        program.write_text(code)
        begun.append(AdapterProcess([sys.executable, str(program)], tmp_path / "log", memory))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def test_responses_are_in_the_order_of_requests(talk):
    process = talk(NOISY)
    told = process.request(PATIENCE, "capabilities")["result"]
    assert told == {
        "protocol": 1,
        "implementation": "noisy",
        "version": "1",
        "formats": [2, 3],
        "operations": ["open", "read"],
    }
    paths = [process.request(PATIENCE, "open", path=str(n))["result"]["path"] for n in range(50)]
    assert paths == [str(n) for n in range(50)]


def test_output_of_libraries_is_not_a_response(talk, tmp_path):
    process = talk(NOISY)
    assert process.request(PATIENCE, "open", path="a")["result"]["node_type"] == "group"
    process.close()
    log = (tmp_path / "log").read_text()
    assert "a library prints" in log
    assert "so does one in another language" in log


def test_errors_and_panics_are_responses(talk):
    process = talk(NOISY)
    wrong = process.request(PATIENCE, "open", path="wrong")["error"]
    assert (wrong["category"], wrong["type"]) == ("other", "ValueError")
    assert wrong["message"].startswith("wrong wrong")
    assert len(wrong["message"]) <= 2000
    assert process.request(PATIENCE, "open", path="panic")["error"]["type"] == "BaseException"
    assert process.request(PATIENCE, "list")["error"]["category"] == "unsupported"
    assert process.request(PATIENCE, "fly")["error"]["category"] == "unsupported"
    assert "result" in process.request(PATIENCE, "capabilities")


def test_elements_are_written_to_a_file(talk, tmp_path):
    response = talk(NOISY).request(PATIENCE, "read", into=str(tmp_path / "into"))
    assert response["result"] == {"node_type": "array", "kind": "raw"}
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


def test_elements_from_bytes():
    raw = {"kind": "raw"}
    got = as_elements(b"\1\0\2\0", raw, np.dtype(">u2"), [2, 1])
    assert got.dtype == ">u2"
    assert got.tolist() == [[1], [2]]
    document = {"kind": "json", "document": {"data_type": "variable_length_bytes"}}
    assert as_elements(b'["AA=="]', document, np.dtype("O"), [1]).tolist() == [b"\0"]
    document["document"] = {"dtype": "|O"}
    assert as_elements(b'["AA=="]', document, np.dtype("O"), [1]).tolist() == ["AA=="]
    assert as_elements(b'["a", "bb"]', document, np.dtype("T"), [2]).tolist() == ["a", "bb"]


def test_selections_and_data_types_for_numpy():
    assert index({}) is ...
    assert index({"selection": [[0, 4, 2], [1, 2, 1]]}) == (slice(0, 4, 2), slice(1, 2, 1))
    nested = dtype_of([["a", "<i4", [2]], ["b", [["c", "|u1"]]]])
    assert np.dtype(nested) == [("a", "<i4", (2,)), ("b", [("c", "u1")])]


def test_unsupported_operations():
    class Least(Adapter):
        implementation = "least"

        def version(self):
            return ""

        def open(self, request):
            return {}

    for operation in ("read", "list", "update", "create", "resize", "erase"):
        request = {"id": 1, "operation": operation, "zarr_format": 3, "store": "", "path": ""}
        response = Least().respond(request | {"into": "", "attributes": {}, "document": {}})
        assert response["error"]["category"] == "unsupported"
        assert operation in response["error"]["message"]
    assert Least().category(UnsupportedError()) == "unsupported"


def test_module_runs_on_old_python():
    text = Path(adapter_module.__file__).read_text()
    tree = ast.parse(text, feature_version=(3, 8))
    assert "zarr_conformance" not in {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }


# --- adapters that violate the protocol ---


def test_crash(talk):
    with pytest.raises(AdapterDiedError, match="exit status 3"):
        talk("import sys; sys.stdin.readline(); sys.exit(3)").request(PATIENCE, "open")
    with pytest.raises(AdapterDiedError, match="SIGSEGV"):
        talk("import os; input(); os.kill(os.getpid(), 11)").request(PATIENCE, "open")
    with pytest.raises(AdapterDiedError, match="it ended"):
        talk("input()").request(PATIENCE, "open")


def test_timeout_kills_the_process_and_its_children(talk, tmp_path):
    note = tmp_path / "child"
    code = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"pathlib.Path({f'{note}.part'!r}).write_text(str(child.pid))\n"
        f"os.rename({f'{note}.part'!r}, {str(note)!r})\n"
        "time.sleep(3600)"
    )
    adapter = talk(code)
    child = int(wait_until(lambda: note.exists() and note.read_text()))
    assert process_tree.runs(child)
    with pytest.raises(AdapterTimeoutError):
        adapter.request(0.3, "open")
    assert process_tree.wait_for_end([child], within=PATIENCE)


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
def test_invalid_responses(talk, line):
    with pytest.raises(AdapterDiedError, match="invalid response"):
        talk(f"input(); print({line!r}, flush=True); input()").request(PATIENCE, "open")


def test_requests_are_lines_of_json(talk):
    echo = (
        "import json\nwhile True:\n    request = input()\n"
        "    print(json.dumps({'id': json.loads(request)['id'], 'result': {'line': request}}), flush=True)"
    )
    process = talk(echo)
    line = process.request(PATIENCE, "open", path="a\nb é")["result"]["line"]
    assert json.loads(line) == {"id": 1, "operation": "open", "path": "a\nb é"}
    assert json.loads(process.request(PATIENCE, "read")["result"]["line"])["id"] == 2


# --- the schema of the protocol ---


def validator(name):
    """A validator of a part of a message."""
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}", "anyOf": [{}]})


def test_the_schema_has_all_operations():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    names = {it.removeprefix("request-") for it in SCHEMA["$defs"] if it.startswith("request-")}
    assert names == {*ZarrCore.operations, "capabilities"}


def test_requests_of_all_cases_are_valid(tmp_path):
    validators = {name: validator(f"request-{name}") for name in ZarrCore.operations}
    for case in all_cases():
        paths = [tmp_path / it for it in ("store", "into", "values")]
        request = {"id": 1, "operation": case.operation, **create_request(case, *paths)}
        request = json.loads(json.dumps(request))
        assert [*validators[case.operation].iter_errors(request)] == [], case.id
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("result-open", {"node_type": "group", "shape": [-1]}),
        ("result-open", {"node_type": "tree"}),
        ("result-open", {"node_type": "array", "shape": [1.5], "attributes": []}),
        ("result-open", {"node_type": "array", "dimension_names": [None, 1]}),
        ("result-list", {"members": {"a": "array", "b": "x"}}),
        ("result-validate", {"valid": 1, "problems": [{"pointer": "/a"}]}),
        ("response", {"id": 1}),
        ("response", {"id": 1, "result": {}, "error": {}}),
        ("error", {"category": "x", "type": "", "message": ""}),
    ],
)
def test_messages_of_another_form_are_invalid(name, value):
    assert not validator(name).is_valid(value)
