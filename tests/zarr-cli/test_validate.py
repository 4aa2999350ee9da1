"""``zarr-core check --meta-only``: all problems of the metadata of a hierarchy."""

import json
import zipfile
from functools import partial
from pathlib import Path

import pytest
import zarr_core as zarr
from formats_for_commands import FORMATS
from unlisted_store import UnlistedStore
from zarr_cli.validate import validate

DRAFT = Path(__file__).parents[1] / "fixtures" / "draft" / "text"


@pytest.mark.parametrize("location", [*(f"{name}.zarr" for name in FORMATS), "three.zip"])
def test_valid_hierarchies(location, here, command, query):
    assert command("check", "--meta-only", location, "--strict").startswith("valid: ")
    found = query("check", "--meta-only", location)
    assert (found["errors"], found["warnings"], found["problems"]) == (0, 0, [])
    nodes = 1 if location == "1.zarr" else 2 + len(zarr.open_group(location, mode="r")["north"])
    assert found["nodes"] == nodes + (location != "1.zarr")


def change(file, **members):
    with open(file) as stream:
        document = json.load(stream)
    document.update(members)
    with open(file, "w") as stream:
        json.dump(document, stream)


@pytest.mark.filterwarnings("ignore:.*nonstandard metadata")
def test_nonstandard_metadata_are_warnings(here, command, query):
    for zarr_format in (2, 3):
        zarr.create_array(f"new{zarr_format}", shape=4, dtype="i2", zarr_format=zarr_format)
    change("new3/zarr.json", dimension_names=None, attributes=None)
    change("new2/.zarray", fill_value="0")
    for location, pointers in (
        ("new3", ["/attributes", "/dimension_names"]),
        ("new2", ["/fill_value"]),
    ):
        found = query("check", "--meta-only", location)
        assert found["errors"] == 0
        assert sorted(problem["pointer"] for problem in found["problems"]) == pointers
        command("check", "--meta-only", location, "--strict", status=1)


def test_one_option_follows_links(here, command):
    Path("links.zarr").mkdir()
    Path("links.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    Path("links.zarr/linked").symlink_to(Path("3.zarr/north").absolute())
    assert "linked" in command("ls", "links.zarr", "-o", "follow_links=true")


def test_every_problem_has_a_pointer(here, command, query):
    north = partial("3.zarr/north/{}/zarr.json".format)
    change("3.zarr/height/zarr.json", shape=[-1, 80], dimension_names=["y"], codecs=["bytez"])
    bad = {"name": "zstd", "configuration": {"level": 99, "checksum": True}}
    change(north("raw"), codecs=["bytes", bad, "acme.foo"], chunk_grid={"name": "hexagonal"})
    change(north("scalar"), data_type="int8", fill_value=300)
    optional = {"name": "acme.bar", "must_understand": False}
    change(
        north("when"), codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, optional]
    )
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    change(north("temperature"), codecs=[little, little])
    with open(north("names"), "w") as stream:
        stream.write('{"a": 1, "a": 2}')
    with open(north("shards")) as stream:
        [sharding] = json.load(stream)["codecs"]
    sharding["configuration"]["codecs"].append("acme.baz")
    change(north("shards"), codecs=[sharding])
    change("3.zarr/north/zarr.json", surprise=1)

    found = query("check", "--meta-only", "3.zarr", status=1)["problems"]
    places = {(each["path"], each["pointer"], each["kind"], each["severity"]) for each in found}
    assert places == {
        ("/height", "/shape/0", "document", "error"),
        ("/height", "/dimension_names", "document", "error"),
        ("/height", "/codecs/0", "extension", "error"),
        ("/north", "/surprise", "document", "error"),
        ("/north/names", "/a", "document", "error"),
        ("/north/raw", "/chunk_grid", "extension", "error"),
        ("/north/raw", "/codecs/1/configuration/level", "extension", "error"),
        ("/north/raw", "/codecs/2", "extension", "error"),
        ("/north/scalar", "/fill_value", "document", "error"),
        ("/north/shards", "/codecs/0/configuration/codecs/3", "extension", "error"),
        ("/north/temperature", "/codecs", "document", "error"),
        ("/north/when", "/codecs/1", "extension", "warning"),
        *(
            ("/", f"/consolidated_metadata/metadata/north~1{name}", "consolidated", "error")
            for name in ("raw", "scalar", "shards", "temperature", "when")
        ),
    }
    shown = command("check", "--meta-only", "3.zarr", status=1)
    assert shown.endswith("16 problems, 1 warning in 10 nodes\n")
    assert "no codec called 'acme.baz' is installed" in shown
    assert command("check", "--meta-only", "3.zarr", "-q", status=1) == ""


@pytest.mark.filterwarnings("ignore:.*contains NaN or Infinity:UserWarning")
def test_values_read_with_a_warning_are_not_valid(here, query):
    change("3.zarr/height/zarr.json", attributes={"a": [0, float("nan")]})
    assert zarr.open("3.zarr")["height"].attrs["a"][0] == 0
    found = query("check", "--meta-only", "3.zarr", status=1)["problems"]
    assert ("/height", "/attributes/a/1") in [(it["path"], it["pointer"]) for it in found]


def test_outdated_consolidated_metadata(here, query):
    zarr.open_group("3.zarr", use_consolidated=False, mode="r+")
    change("3.zarr/height/zarr.json", attributes={})
    zarr.rmdir("3.zarr", "north/raw")
    zarr.create_group(zarr.LocalStore("3.zarr"), path="new")
    found = query("check", "--meta-only", "3.zarr", status=1)["problems"]
    assert [
        (each["pointer"].rpartition("/")[2], each["message"].split(";")[0]) for each in found
    ] == [
        ("height", "consolidated metadata of this node differs from its stored metadata"),
        ("new", "this node is missing from consolidated metadata"),
        ("north~1raw", "consolidated metadata contains this node, which does not exist"),
    ]


def test_consolidated_metadata_of_zarr_python_is_up_to_date(here, query):
    zarr.consolidate_metadata("2.zarr")
    with open("2.zarr/.zmetadata") as stream:
        metadata = json.load(stream)["metadata"]
    copies = {"kind": "inline", "must_understand": False, "metadata": {}}
    metadata["north/.zgroup"]["consolidated_metadata"] = copies
    change("2.zarr/.zmetadata", metadata=metadata)
    assert query("check", "--meta-only", "2.zarr")["problems"] == []
    metadata["north/.zgroup"]["zarr_format"] = 1
    change("2.zarr/.zmetadata", metadata=metadata)
    assert len(query("check", "--meta-only", "2.zarr", status=1)["problems"]) == 1


@pytest.mark.parametrize(
    "name", ["refused_encoding", "refused_extension", "refused_major", "refused"]
)
def test_invalid_hierarchies_of_the_draft(name, tmp_path, query):
    """Invalid fixtures give problems with messages, not exceptions."""
    with zipfile.ZipFile(DRAFT / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    found = query("check", "--meta-only", tmp_path, status=1)["problems"]
    assert {each["severity"] for each in found} == {"error"}
    assert all(each["message"] for each in found)


def test_strict_counts_warnings(here, command):
    optional = {"name": "acme.bar", "must_understand": False}
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, optional]
    change("3.zarr/north/raw/zarr.json", codecs=codecs)
    assert command("check", "--meta-only", "3.zarr#north").endswith("1 warning in 8 nodes\n")
    command("check", "--meta-only", "3.zarr#north", "--strict", status=1)


def test_nodes_below_a_damaged_root_are_validated(here, command, query):
    with open("2.zarr/.zgroup", "w") as stream:
        stream.write("{")
    change("2.zarr/height/.zarray", order="Z")
    found = query("check", "--meta-only", "2.zarr", status=1)
    assert [each["path"] for each in found["problems"]] == ["/", "/height"]
    assert (found["zarr_format"], found["nodes"]) == ("v2", 7)
    assert "no Zarr array or group here" in command("check", "--meta-only", "missing", status=1)


def test_store_without_listing():
    store = zarr.MemoryStore()
    root = zarr.create_group(store)
    root.create_array("a/b", data=[1, 2])
    values = {key: store.get(key) for key in store.list()}
    [problem] = validate(UnlistedStore(values)).problems
    assert (problem.kind, problem.severity) == ("store", "warning")
    zarr.consolidate_metadata(store)
    values["zarr.json"] = store.get("zarr.json")
    result = validate(UnlistedStore(values))
    assert (result.nodes, result.problems) == (3, [])
