"""Reading stored documents: the examples, one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataDecodeError, MetadataValidationError, UnsupportedFieldError
from zarr_core.formats.v3 import V3
from zarr_core.metadata.node import parse_stored, valid_node

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
VALID = sorted(EXAMPLES.glob("valid/*.json"))
INVALID = sorted(EXAMPLES.glob("invalid/*.json"))
BY_STAGE = {
    stage: [file for file in INVALID if json.loads(file.read_bytes())["stage"] == stage]
    for stage in ("document", "configuration", "fill_value", "resolution")
}

# Invalid documents that have one meaning.
READ = {
    *("attributes-null", "codec-sibling-member", "consolidated-empty", "dimension-names-null"),
    *("shape-whole-fraction", "storage-transformers-null", "storage-transformers-object"),
    *("zarr-format-fraction", "fill-bool-number", "fill-float-nan-in-small-letters"),
    *("fill-int-string", "fill-int-whole-fraction"),
}


def read(document, location="zarr.json"):
    return V3().from_json(document, location)


def parse_node(data, location="zarr.json"):
    return read(parse_stored(data, location), location)


@pytest.mark.parametrize("file", BY_STAGE["document"], ids=lambda file: file.stem)
def test_invalid_documents_are_rejected_with_every_place(file):
    example = json.loads(file.read_bytes())
    with pytest.raises((MetadataValidationError, UnsupportedFieldError)) as caught:
        (valid_node if file.stem in READ else read)(example["document"], "s3://bucket/a zarr.json")
    error = caught.value
    assert sorted(problem.pointer for problem in error.problems) == sorted(example["pointers"])
    assert str(error).startswith("s3://bucket/a zarr.json: ")
    assert all(str(problem) in str(error) for problem in error.problems)


@pytest.mark.parametrize(
    "file",
    BY_STAGE["configuration"] + BY_STAGE["fill_value"] + BY_STAGE["resolution"],
    ids=lambda file: file.stem,
)
def test_fields_of_extensions_are_read_as_data(file):
    example = json.loads(file.read_bytes())
    metadata = valid_node(example["document"])
    assert json.dumps(metadata.to_json()) == json.dumps(example["document"])


@pytest.mark.parametrize("file", BY_STAGE["document"] + BY_STAGE["fill_value"])
def test_invalid_documents_with_one_meaning_are_read_in_their_valid_form(file):
    document = json.loads(file.read_bytes())["document"]
    try:
        metadata = parse_node(json.dumps(document).encode())
    except (MetadataValidationError, UnsupportedFieldError):
        assert file.stem not in READ
        return
    is_changed = json.dumps(metadata.to_json()) != json.dumps(document)
    assert is_changed == (file.stem in READ)
    assert valid_node(metadata.to_json()) == metadata


@pytest.mark.parametrize(
    "file",
    [file for file in INVALID if file.stem.startswith("unknown-member")],
    ids=lambda file: file.stem,
)
def test_unknown_members_alone_have_an_error_of_their_own(file):
    with pytest.raises(UnsupportedFieldError, match="must_understand"):
        parse_node(json.dumps(json.loads(file.read_bytes())["document"]).encode())


def test_the_time_of_an_error_does_not_grow_with_hints_for_each_member(monkeypatch):
    asked = []
    monkeypatch.setattr("zarr_core.formats.v3.install_hint", lambda *name: asked.append(name) or "")
    document = {"zarr_format": 3, "node_type": "group", **{f"m{n}": {} for n in range(2000)}}
    with pytest.raises(UnsupportedFieldError) as caught:
        zarr.open({"zarr.json": json.dumps(document).encode()})
    assert (len(caught.value.problems), len(asked)) == (2000, 20)


def test_unknown_members_next_to_other_problems_are_reported_with_them():
    example = json.loads((EXAMPLES / "invalid" / "many-problems.json").read_bytes())
    with pytest.raises(MetadataValidationError) as caught:
        parse_node(json.dumps(example["document"]).encode())
    assert not isinstance(caught.value, UnsupportedFieldError)
    assert "5 problems" in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"zarr_format": 3, "zarr_format": 3}', b"[" * 100_000]
)
def test_invalid_json_is_rejected(data):
    with pytest.raises(MetadataDecodeError, match=r"memory://x zarr\.json"):
        parse_node(data, "memory://x zarr.json")


def test_opening_needs_neither_schema_library_nor_numpy():
    script = (
        "import sys\n"
        "from zarr_core.metadata.node import node_from_json, parse_stored\n"
        "for name in sys.argv[1:]:\n"
        "    with open(name, 'rb') as file: node_from_json(parse_stored(file.read(), name)).to_stored()\n"
        "print([name for name in ('jsonschema', 'referencing', 'numpy') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, *map(str, VALID)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"
