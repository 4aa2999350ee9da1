"""The self-check of adapters: each mistake of an adapter is found, and only that."""

import json
import os
import shlex
import sys
from pathlib import Path

import jsonschema
import pytest
from zarr_conformance.__main__ import main
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.runner.check_adapter import OPERATIONS, check_adapter
from zarr_conformance.runner.protocol import create_request
from zarr_conformance.runner.schema import message_problems, protocol_schema

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "conformance" / "protocol.json").read_text("utf-8")
)

ADAPTER = """
import json, os
from zarr_conformance.adapters.zarr_core import ZarrCore

class Ours(ZarrCore):
    {code}

{before}
Ours().serve()
"""

# The faulty part of an adapter, and the checks that find it.
FAULTS = {
    "none": ("pass", set()),
    "protocol": (
        "def respond(self, request):\n"
        "        reply = super().respond(request)\n"
        "        reply.get('result', {}).pop('protocol', None)\n"
        "        return reply",
        {"capabilities"},
    ),
    "state": (
        "kept = None\n"
        "    def read(self, request):\n"
        "        if request['store'].endswith('store') and request.get('selection', 0) == 0:\n"
        "            self.kept = self.kept or super().read(request)\n"
        "            return self.kept\n"
        "        return super().read(request)",
        {
            "keeps no state between requests",
            "writes a part of an array",
            "resizes an array",
        },
    ),
    "byte order": (
        "def read(self, request):\n"
        "        description, elements = super().read(request)\n"
        "        return description, elements.byteswap() if elements[0] == 1 and elements[1] < 0"
        " and b'big' in open(request['store'] + '/zarr.json', 'rb').read() else elements",
        {"returns elements in little-endian order"},
    ),
    "selection": (
        "def read(self, request):\n"
        "        return super().read({**request, 'selection': None})",
        {"applies a selection"},
    ),
    "null selection": (
        "def read(self, request):\n"
        "        if 'selection' in request and request['selection'] is None:\n"
        "            raise ValueError('no selection')\n"
        "        return super().read(request)",
        {"applies a selection"},
    ),
    "url": (
        "def read(self, request):\n"
        "        return super().read({**request, 'store': request['store'].split('#')[0]})",
        {"accepts any name of a directory"},
    ),
    "creates": (
        "def open(self, request):\n"
        "        open(request['store'] + '/lock', 'w').close()\n"
        "        return super().open(request)",
        {"reports missing nodes", "changes nothing on reading"},
    ),
    "invents": (
        "def open(self, request):\n"
        "        try:\n"
        "            return super().open(request)\n"
        "        except Exception:\n"
        "            return {'node_type': 'group'}",
        {"reports missing nodes"},
    ),
    "form": (
        "def open(self, request):\n"
        "        return {**super().open(request), 'shape': '4'}",
        {"opens an array", "changes nothing on reading", "responds to deeply nested attributes"},
    ),
    "unknown operation": (
        "def respond(self, request):\n"
        "        if request['operation'] == 'no-such-operation':\n"
        "            return {'id': request['id'], 'result': {}}\n"
        "        return super().respond(request)",
        {"rejects unknown operations"},
    ),
    "category": (
        "def category(self, error):\n        return 'bad'",
        {
            "reports missing nodes",
            "rejects unknown operations",
            "responds to deeply nested attributes",
        },
    ),
    "write": (
        "def write(self, request, values):\n"
        "        super().write({**request, 'selection': [[0, 2, 1]]}, values)",
        {"writes a part of an array"},
    ),
    "resize": ("def resize(self, request):\n        pass", {"resizes an array"}),
    "dies": (
        "def read(self, request):\n"
        "        if 'big' in open(request['store'] + '/zarr.json').read():\n"
        "            os._exit(3)\n"
        "        return super().read(request)",
        {"returns elements in little-endian order"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault, tmp_path):
    code, found = FAULTS[fault]
    script = tmp_path / "adapter.py"
    script.write_text(ADAPTER.format(code=code, before=""))
    results = list(check_adapter([sys.executable, str(script)], 20.0))
    assert {it.name for it in results if it.problem} == found, results


def test_exit_status(tmp_path, capsys):
    script = tmp_path / "adapter.py"
    for fault, status in (("none", 0), ("selection", 1)):
        script.write_text(ADAPTER.format(code=FAULTS[fault][0], before=""))
        command = shlex.join([sys.executable, str(script)])
        assert main(["check-adapter", "--command", command]) == status
        told = capsys.readouterr().out
        assert ("FAIL applies a selection: (1, 2, 3, 4)" in told) == bool(status)
        assert ("follows the protocol" in told) == (not status)
    assert main(["check-adapter", "--impl", "nobody"]) == 2
    assert main(["check-adapter", "--command", "no-such-program"]) == 1
    assert "cannot be started" in capsys.readouterr().out


def test_unsupported_operations_are_skipped(tmp_path):
    script = tmp_path / "adapter.py"
    script.write_text(ADAPTER.format(code='operations = ("open", "read")', before=""))
    results = {it.name: it for it in check_adapter([sys.executable, str(script)], 20.0)}
    assert {name for name, it in results.items() if it.skipped} == {
        "writes a part of an array",
        "resizes an array",
    }


def test_capabilities_that_are_no_object(tmp_path):
    program = (
        "import json\nprint(json.dumps({'id': 1, 'result': {'formats': 3}}))\ninput()\ninput()"
    )
    results = list(check_adapter([sys.executable, "-c", program], 5.0))
    assert [it.name for it in results] == ["capabilities"]
    assert "has no member 'implementation'" in results[0].problem


# --- the schema of the protocol ---

MESSAGES = (
    ("result-open", {"node_type": "array", "shape": [4]}),
    ("result-open", {"node_type": "group", "shape": [-1]}),
    ("result-open", {"node_type": "tree"}),
    ("result-open", {"node_type": "array", "shape": [True]}),
    ("result-open", {"node_type": "array", "shape": [1.5], "attributes": []}),
    ("result-open", {"node_type": "array", "dimension_names": None}),
    ("result-open", {"node_type": "array", "dimension_names": [None, 1]}),
    ("result-open", []),
    ("result-list", {"members": {"a": "array", "b": "x"}}),
    ("result-read", {"node_type": "array"}),
    ("result-validate", {"valid": 1, "problems": [{"pointer": "/a"}]}),
    ("response", {"id": 1, "result": {}}),
    ("response", {"id": 1}),
    ("response", {"id": "1", "result": {}}),
    ("response", {"id": 1, "result": {}, "error": {}}),
    ("response", {"id": 1, "error": {"category": "x", "type": "", "message": ""}}),
    ("request-read", {"id": 1, "operation": "read", "zarr_format": 3, "store": "", "path": "/a", "into": ""}),
    ("request-read", {"id": 1, "operation": "read", "zarr_format": 3, "store": "", "path": "a", "into": "", "selection": [[1, 2]]}),
    ("request-open", {"id": 1, "operation": "open", "zarr_format": 3, "store": "", "path": "a/b"}),
)  # fmt: skip


@pytest.mark.parametrize(("name", "value"), MESSAGES)
def test_messages_are_validated_as_by_jsonschema(name, value):
    theirs = jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}", "anyOf": [{}]})
    assert bool(message_problems(name, value)) == (not theirs.is_valid(value))


def test_the_schema_is_published():
    assert protocol_schema() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    names = {it.removeprefix("request-") for it in SCHEMA["$defs"] if it.startswith("request-")}
    assert names == {*OPERATIONS, "capabilities"}


def test_requests_of_all_cases_are_valid(tmp_path):
    for case in all_cases():
        paths = [tmp_path / it for it in ("store", "into", "values")]
        request = {"id": 1, "operation": case.operation, **create_request(case, *paths)}
        request = json.loads(json.dumps(request))
        assert message_problems(f"request-{case.operation}", request) == [], case.id
    assert os.listdir(tmp_path) == []
