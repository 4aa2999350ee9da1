"""Commands that print hierarchies of every format."""

import io
import json
import re
import tracemalloc

import click
import numpy as np
import pytest
import zarr_core as zarr
from click.testing import CliRunner
from example_distributions import write_distribution
from formats_for_commands import FORMATS, HEIGHT
from zarr_cli import output
from zarr_cli.cat.blocks import BUDGET, read_blocks
from zarr_cli.cat.npy import npy_header, npy_parts
from zarr_cli.cat.selection import parse_selection
from zarr_cli.command_group import cli

LOCATIONS = [*(f"{name}.zarr" for name in FORMATS), "three.zip"]


def node(location):
    return location if location == "1.zarr" else f"{location}#height"


# --- info ---


@pytest.mark.parametrize("location", LOCATIONS)
def test_info(location, here, command, query):
    shown = command("info", node(location), "--stored")
    assert "int16" in shown
    assert "100 x 80" in shown
    assert 'Attributes\n  units  "m"\n' in shown
    found = query("info", node(location), "--stored")
    assert (found["type"], found["shape"], found["chunks"]) == ("array", [100, 80], [30, 40])
    assert found["attributes"] == {"units": "m"}
    assert (found["chunks_stored"], found["chunks_total"]) == (8, 8)
    array = zarr.open_array(location, path="" if location == "1.zarr" else "height", mode="r")
    assert found["nbytes_stored"] == array.nbytes_stored()
    assert found["nbytes"] == 16000


def test_info_of_a_group(here, query):
    found = query("info", "3.zarr", "--stored")
    assert found["attributes"] == {"n": 10**25}  # exact
    assert (found["arrays"], found["groups"], found["consolidated"]) == (1, 1, True)


# --- tree, ls ---


@pytest.mark.parametrize("location", LOCATIONS)
def test_tree(location, here, command, query):
    lines = command("tree", location, "--attrs").splitlines()
    assert lines[0].startswith("/")
    if location == "1.zarr":
        assert lines == ["/  (100, 80) int16 chunks (30, 40)", '  units = "m"']
        return
    shape = "(y: 100, x: 80)" if location[0] in "3t" else "(100, 80)"
    assert f"├── height  {shape} int16 chunks (30, 40)" in lines
    assert '│     units = "m"' in lines
    assert "└── north" in lines
    assert command("tree", location, "-L", 0) == "/\n"
    assert [line.split()[1] for line in command("tree", location, "-L", 1).splitlines()[1:]] == [
        "height",
        "north",
    ]
    found = query("tree", location)
    assert [member["path"] for member in found["members"]] == ["/height", "/north"]
    below = found["members"][1]["members"]
    assert {"/north/temperature"} <= {member["path"] for member in below}
    assert query("tree", f"{location}#north")["members"][0]["path"].startswith("/north/")


def test_ls(here, command, query):
    assert command("ls", "3.zarr") == "height\nnorth/\n"
    names = command("ls", "-r", "3.zarr").split()
    assert names[:3] == ["height", "north/", "north/names"]
    assert command("ls", "3.zarr#north/raw") == "raw\n"
    heading, *rows = command("ls", "-l", "3.zarr#north").splitlines()
    assert heading.split() == ["name", "shape", "type", "chunks", "shards", "codecs"]
    [shards] = [row for row in rows if row.startswith("shards")]
    assert re.split("  +", shards)[1:] == [
        "(64, 64)", "float32", "(8, 8)", "(32, 32)", "bytes, zstd, crc32c",
    ]  # fmt: skip
    array = zarr.open_array("3.zarr", path="height", mode="r")
    [height, _] = query("ls", "-s", "3.zarr")
    assert (height["nbytes"], height["nbytes_stored"]) == (16000, array.nbytes_stored())
    heading, height, north = command("ls", "-s", "3.zarr").splitlines()
    assert heading.split()[-2:] == ["stored", "codecs"]
    assert f"  {array.nbytes_stored() / 1024:.1f} KiB  bytes, zstd" in height
    assert north.split() == ["north/", "group"]
    assert [found["path"] for found in query("ls", "3.zarr")] == ["/height", "/north"]


def test_nodes_that_cannot_be_opened_are_listed(here, command, query):
    change("3.zarr/north/raw/zarr.json", lambda it: it["codecs"].append({"name": "acme.z"}))
    change("3.zarr/height/zarr.json", lambda it: it.update(shape=[-1, 80]))
    shown = command("tree", "3.zarr", "--no-consolidated")
    assert "height  cannot be opened: /shape/0: -1 is less than 0\n" in shown
    assert "raw  (10,) int32  cannot be opened: /codecs/1: no codec called 'acme.z'" in shown
    assert "cannot be opened" not in command("tree", "3.zarr")  # consolidated metadata is unchanged
    found = query("ls", "-r", "3.zarr", "--no-consolidated")
    problems = {each["path"]: each.get("problem") for each in found}
    assert problems["/height"] == "/shape/0: -1 is less than 0"
    assert problems["/north/shards"] is None
    assert "no codec called 'acme.z'" in command("info", "3.zarr#north/raw", status=1)
    listed = command("ls", "-rl", "3.zarr", "--no-consolidated")
    assert re.search("^height +cannot be opened$", listed, re.MULTILINE)


def change(file, how):
    with open(file) as stream:
        document = json.load(stream)
    how(document)
    with open(file, "w") as stream:
        json.dump(document, stream)


# --- cat ---


@pytest.mark.parametrize("location", LOCATIONS)
def test_cat_formats(location, here, command):
    text = command("cat", node(location), "10:20,::7")
    wanted = HEIGHT[10:20, ::7]
    assert np.array_equal(np.loadtxt(io.StringIO(text), int), wanted)
    csv = command("cat", node(location), "10:20,::7", "-f", "csv")
    assert np.array_equal(np.loadtxt(io.StringIO(csv), int, delimiter=","), wanted)
    assert json.loads(command("cat", node(location), "10:20,::7", "-f", "json")) == wanted.tolist()
    done = CliRunner().invoke(cli, ["cat", node(location), "-f", "npy"])
    assert np.array_equal(np.load(io.BytesIO(done.stdout_bytes)), HEIGHT)


def test_cat_data_types(here, command):
    assert json.loads(command("cat", "3.zarr#north/names", "-f", "json")) == ["a", "b c", '"']
    assert command("cat", "3.zarr#north/names", "-f", "csv") == 'a\nb c\n""""\n'
    assert command("cat", "3.zarr#north/when") == "2024-01-01T00:00:00\nNaT\n"
    assert json.loads(command("cat", "3.zarr#north/records", "-f", "json")) == [
        {"i": 1, "f": 2.5},
        {"i": 3, "f": "NaN"},
    ]
    assert command("cat", "3.zarr#north/records", "-f", "csv") == "dim_0,i,f\n0,1,2.5\n1,3,nan\n"
    assert command("cat", "3.zarr#north/scalar") == "2.5\n"
    assert command("cat", "3.zarr#height", "y=3,x=5") == f"{HEIGHT[3, 5]}\n"
    csv = command("cat", "2.zarr#north/temperature", "-f", "csv").splitlines()
    assert csv[:2] == ["dim_0,dim_1,dim_2,value", "0,0,0,0.0"]
    assert len(csv) == 25


def test_cat_errors(here, command):
    assert "100 is out of bounds: dimension 'y' has 100" in command(
        "cat", "3.zarr#height", 100, status=2
    )
    assert "unknown dimension 'z'" in command("cat", "3.zarr#height", "z=1", status=2)
    assert "is a group, but this command needs an array" in command("cat", "3.zarr", status=1)
    shown = command("cat", "3.zarr#north/names", "-f", "npy", status=1)
    assert "NPY files do not support" in shown


def test_cat_streams_large_arrays():
    shape = (4000, 5000)
    array = zarr.create_array(shape=shape, chunks=(100, 5000), dtype="float64", fill_value=1.5)
    header = npy_header(shape, array.dtype)
    tracemalloc.start()
    size = sum(map(len, npy_parts(header, read_blocks(array, parse_selection("", shape)))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 8 * 4000 * 5000 + 128  # 160 MB
    assert peak < 3 * BUDGET  # two blocks, and the buffers of the threads


# --- attrs, meta ---


@pytest.mark.parametrize(
    "location", [location for location in LOCATIONS if location != "three.zip"]
)
def test_attrs_set_is_exact(location, here, command):
    command("attrs", "set", node(location), "big", "[100000000000000000000001, 1.0, null]")
    assert (
        command("attrs", "get", node(location), "big") == "[100000000000000000000001, 1.0, null]\n"
    )
    command("attrs", "set", node(location), "units", "--text", "m/s")
    assert json.loads(command("attrs", "get", node(location)))["units"] == "m/s"
    command("attrs", "rm", node(location), "units", "big")
    assert command("attrs", "get", node(location)) == "{}\n"


def test_attrs_errors(here, command):
    assert "Write text as '\"m\"', or use --text" in command(
        "attrs", "set", "3.zarr", "a", "m", status=2
    )
    assert "has no attribute 'b'; it has 'n'" in command("attrs", "get", "3.zarr", "b", status=1)
    command("attrs", "rm", "3.zarr", "n", "b", status=1)
    assert json.loads(command("attrs", "get", "3.zarr")) == {"n": 10**25}


@pytest.mark.parametrize("location", LOCATIONS)
def test_meta(location, here, command):
    found = json.loads(command("meta", node(location)))
    normalised = json.loads(command("meta", node(location), "--v3"))
    assert normalised["zarr_format"] == 3
    assert normalised["shape"] == [100, 80]
    raw = command("meta", node(location), "--raw")
    if location[0] in "3t":
        assert found == normalised == json.loads(raw)
    elif location == "2.zarr":
        assert found[".zarray"]["shape"] == [100, 80]
        assert found[".zattrs"] == {"units": "m"}
    elif location == "1.zarr":
        assert found["meta"]["shape"] == [100, 80]
    elif location == "n5.zarr":
        assert found["dimensions"] == [80, 100]


def test_non_finite_attributes(here, command, query):
    with open("2.zarr/height/.zattrs", "w") as stream:
        stream.write(
            '{"_FillValue": NaN, "range": [-Infinity, 1.5]}'
        )  # as other libraries write it
    wanted = {"_FillValue": "NaN", "range": ["-Infinity", 1.5]}
    assert query("info", "2.zarr#height")["attributes"] == wanted
    assert json.loads(command("attrs", "get", "2.zarr#height")) == wanted
    assert json.loads(command("meta", "2.zarr#height"))[".zattrs"] == wanted
    assert json.loads(command("meta", "2.zarr#height", "--v3"))["attributes"] == wanted
    assert "_FillValue  NaN" in command("info", "2.zarr#height")
    command("diff", "2.zarr#height", "2.zarr#height")


def test_meta_prints_damaged_documents(here, command):
    with open("3.zarr/height/zarr.json", "w") as stream:
        stream.write('{"shape": [1e999, NaN]}')
    assert json.loads(command("meta", "3.zarr#height")) == {"shape": ["1e999", "NaN"]}
    with open("3.zarr/height/zarr.json", "w") as stream:
        stream.write("no JSON")
    assert json.loads(command("meta", "3.zarr#height")) == "no JSON"


# --- chunks, extensions ---


def test_chunks(here, command, query):
    shown = command("chunks", "3.zarr#north/shards")
    assert "25 of 64 chunks stored" in shown
    found = query("chunks", "3.zarr#north/shards", "--shards")
    assert (found["unit"], found["total"], found["total_stored"]) == ("shard", 4, 4)
    assert query("chunks", "2.zarr#north/temperature", "--at", "0=1")["total"] == 2
    assert "'z' is not a dimension; the dimensions are y, x" in command(
        "chunks", "3.zarr#height", "--dims", "z", status=2
    )
    assert "is not DIM=INDEX" in command("chunks", "3.zarr#height", "--at", "y", status=2)


def test_extensions(command, query):
    shown = command("extensions", "--extension-point", "chunk_grid", "--no-load")
    assert shown.startswith("chunk_grid\n")
    assert [line for line in shown.splitlines() if "regular" in line and "zarr-core" in line]
    [gzip] = [it for it in query("extensions", "gzip", "--no-load") if it["used"]]
    assert gzip["distribution"] == "zarr-codecs"
    assert gzip["loads"] is None
    assert "unknown extension point 'codecs'; choose from chunk_grid" in command(
        "extensions", "--extension-point", "codecs", status=2
    )


def test_disabled_extensions(command):
    with zarr.config.set(disabled_plugins=["zarr-codecs"]):
        lines = command("extensions", "gzip", "bytes", "--extension-point", "codec").splitlines()
    assert lines == [
        "codec",
        "  bytes  zarr-core 0.1.0",
        "  gzip   zarr-codecs 0.1.0  disabled",
    ]


def test_broken_and_conflicting_extensions(command, query, tmp_path, monkeypatch):
    from zarr_core.registry import discovery

    for name in ("one", "two"):
        points = f"[zarr_core.codec]\nacme.both = json:loads\nacme.{name} = not_there:Codec\n"
        write_distribution(tmp_path, f"acme-{name}", "1.0", points)
    monkeypatch.syspath_prepend(str(tmp_path))
    discovery.refresh()
    try:
        shown = command("extensions", "acme.both", "acme.one", status=1)
        unloaded = command("extensions", "acme.both", "--no-load", status=1)
        [one] = query("extensions", "acme.one", status=1)
        command("extensions", status=1)
    finally:
        monkeypatch.undo()
        discovery.refresh()
    assert "acme.one   acme-one 1.0  broken: ModuleNotFoundError" in shown
    assert one["loads"] is False
    assert "acme.both  acme-one 1.0  in conflict" in unloaded
    assert "acme-one and acme-two all provide the codec 'acme.both'" in unloaded


# --- plan ---


def test_a_plan_is_a_table(here, command):
    lines = command("plan", "3.zarr#height", "0:2,0:3").splitlines()
    assert lines[0].startswith("read of file://")
    assert lines[0].endswith("'/height'")
    assert lines[1].split() == ["selection", "2", "x", "3"]
    assert "100 x 80" in command("plan", "3.zarr#height")
    for selection in ("0:2,0:3,5", "x", "99999"):
        assert "SELECTION" in command("plan", "3.zarr#height", selection, status=2)


# --- a terminal ---


def test_output_on_a_terminal(here, on_terminal, monkeypatch):
    def show(*words, width=60):
        return click.unstyle(on_terminal(*words, width=width)).replace("\r\n", "\n")

    preview = show("cat", "3.zarr#height")
    assert preview.startswith("[[  0   1   2 ...  77  78  79]\n")
    assert "corners of 8,000 elements; --all prints all of them" in preview
    assert "cannot print NPY to a terminal" in show("cat", "3.zarr#height", "-f", "npy")
    zarr.create_array(here / "wide.zarr", shape=(4, 300), chunks=1, dtype="i1")
    rows = show("chunks", "wide.zarr", width=40).splitlines()
    assert {row for row in rows if row.startswith("·") and " " not in row} == {"·" * 38}


@pytest.mark.parametrize(
    ("words", "styled"),
    [
        (["info", "3.zarr#height"], "\x1b[1mType\x1b[0m"),
        (["ls", "3.zarr"], "\x1b[34m\x1b[1mnorth/\x1b[0m"),
        (["check", "3.zarr"], "\x1b[32m\x1b[1m"),
    ],
)
def test_colours_are_for_terminals(here, on_terminal, command, words, styled):
    assert styled in on_terminal(*words, colour=True)
    assert "\x1b" not in on_terminal(*words)  # with NO_COLOR
    assert "\x1b" not in command(*words)


def test_short_json_stays_on_one_line():
    document = {
        "shape": [1, 2],
        "empty": {},
        "long": ["x" * 50, "y" * 50],
        "deep": [{"a": [1]}] * 9,
    }
    text = output.json_text(document)
    assert json.loads(text) == document
    assert '  "shape": [1, 2],\n' in text
    assert max(map(len, text.splitlines())) <= 80
