"""``zarr-core portable``."""

import json
import sys

import numpy as np
import pytest
import zarr_core as zarr


@pytest.fixture
def sharded(here):
    root = zarr.create_group("new.zarr")
    array = root.create_array("north/height", shape=(4, 4), chunks=2, shards=4, dtype="float32")
    array[...] = 1.5
    return root


def reasons(printed, name):
    (found,) = [it for it in json.loads(printed)["libraries"] if it["name"] == name]
    return found["reasons"]


def test_each_reason_has_the_node_the_pointer_and_the_remedy(sharded, command):
    found = reasons(command("portable", "new.zarr", "--json"), "zarrita.js")
    assert not found
    array = sharded.create_array("y", shape=4, dtype="int16", compressors=["numcodecs.lz4"])
    array[...] = 1
    (reason,) = reasons(command("portable", "new.zarr", "--json"), "tensorstore")
    assert reason["path"] == "/y"
    assert (reason["document"], reason["pointer"]) == ("zarr.json", "/codecs/1")
    assert "--compressor" in reason["remedy"]


def test_a_required_library_determines_the_exit_status(sharded, command):
    command("portable", "new.zarr", "--for", "zarr-python")
    printed = command("portable", "new.zarr", "--for", "zarr-python-2", status=1)
    assert "does not read version 3" in printed


def test_features_that_were_not_measured_make_the_answer_unknown(here, command):
    zarr.create_array("a.zarr", shape=2, dtype="int8", compressors="zstd")
    document = json.loads((here / "a.zarr/zarr.json").read_text())
    document["codecs"][1]["configuration"]["new"] = {}
    (here / "a.zarr/zarr.json").write_text(json.dumps(document))
    printed = command("portable", "a.zarr", "--for", "zarr-python", status=1)
    assert "not measured: v3/codec/zstd/new" in printed
    assert "0 of 1 libraries read" in printed
    found = json.loads(command("portable", "a.zarr", "--json", "--for", "zarr-python", status=1))
    assert found["libraries"][0]["reads"] is None


def test_an_unknown_library_is_a_usage_error(sharded, command):
    assert "did you mean 'tensorstore'" in command("portable", "new.zarr", "--for", "tensorstor", status=2)  # fmt: skip


def test_the_conversion_is_read(sharded, command):
    command("convert", "new.zarr", "old.zarr", "--zarr-format", "2")
    command("portable", "old.zarr", "--for", "zarr-python-2")
    assert zarr.open("old.zarr/north/height")[...].tolist() == [[1.5] * 4] * 4


def test_a_missing_distribution_is_named(sharded, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr_conformance.portability.report", None)
    assert "pip install zarr-conformance" in command("portable", "new.zarr", status=1)


def test_nodes_that_cannot_be_opened_are_included(here, command):
    zarr.create_array("a.zarr", shape=2, dtype="int8")
    document = json.loads((here / "a.zarr/zarr.json").read_text())
    document["codecs"].append({"name": "acme.unknown"})
    (here / "a.zarr/zarr.json").write_text(json.dumps(document))
    (reason,) = reasons(command("portable", "a.zarr", "--json"), "zarr-python")
    assert reason["pointer"] == "/codecs/2"


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("fill", [float("nan"), float("inf")])
def test_consolidated_metadata_does_not_make_the_answer_unknown(here, command, zarr_format, fill):
    root = zarr.create_group("a.zarr", zarr_format=zarr_format)
    root.create_array("x/y", data=[1.0, 2.0], fill_value=fill, compressors="gzip")
    library = "zarr-python-2" if zarr_format == 2 else "tensorstore"
    before = command("portable", "a.zarr", "--for", library)
    zarr.consolidate_metadata("a.zarr")
    assert command("portable", "a.zarr", "--for", library) == before


@pytest.mark.parametrize(
    ("values", "name", "library"),
    [
        (["Oslo", ""], "string", "z5py"),
        (["Oslo", ""], "string", "tensorstore"),
        ([b"ab", b""], "null_terminated_bytes", "gdal"),
        ([1j, 2], "complex128", "zarrita.js"),
    ],
)
@pytest.mark.parametrize("is_set", [False, True])
def test_the_data_type_is_the_reason_not_its_fill_value(
    here, command, values, name, library, is_set
):
    dtype = str if name == "string" else None
    fill = {"fill_value": values[0]} if is_set else {}
    zarr.create_array("a.zarr", data=np.array(values), dtype=dtype, **fill)
    printed = command("portable", "a.zarr", "--json", "--for", library, status=1)
    assert {it["pointer"].split("/")[1] for it in reasons(printed, library)} == {"data_type"}
    assert all(name in it["message"] for it in reasons(printed, library))
    assert "acme" not in printed
