"""Commands that create, copy, move and remove nodes, in every format."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr_core as zarr
from click.testing import CliRunner
from zarr_cli.command_group import cli

FORMATS = [2, 3, "n5"]


def read(*words, run):
    return json.loads(run(*words, "--json"))


def survey(zarr_format=3, location="survey.zarr"):
    root = zarr.create_group(location, zarr_format=zarr_format, attributes={"year": 2024})
    values = np.arange(240.0).reshape(12, 20)
    root.create_array("north/height", data=values, chunks=(4, 5))
    root.create_array("south/height", data=values * 2, chunks=(4, 5))
    return root


def paths(location):
    return {path for path, _ in zarr.open_group(location).members(max_depth=None)}


EVERY = {"north", "north/height", "south", "south/height"}


# --- create ---


def test_create_array_with_all_options(run):
    printed = run(
        "create", "s.zarr#a/height", "--shape", "100,80", "-d", "float32", "-c", "10,10",
        "-s", "20,40", "-z", "zstd:5", "-z", "crc32c", "--fill-value", "NaN",
        "--dimension-names", "y,x", "-a", "units=m", "-a", 'range=[1, 2]',
    )  # fmt: skip
    assert "10 x 10" in printed
    array = zarr.open("s.zarr")["a/height"]
    assert (array.shape, array.chunks, array.shards) == ((100, 80), (10, 10), (20, 40))
    assert array.dtype == "f4"
    assert np.isnan(array.fill_value)
    assert [type(codec).__name__ for codec in array.compressors] == ["ZstdCodec", "Crc32cCodec"]
    assert array.compressors[0].level == 5
    assert array.dimension_names == ("y", "x")
    assert dict(array.attrs) == {"units": "m", "range": [1, 2]}


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_create_in_every_format(run, zarr_format):
    run("create", "g.zarr", "--zarr-format", zarr_format, "-a", "year=2024")
    created = read("create", "g.zarr#a", "--shape", "7", "-d", "int16", run=run)
    assert created["Zarr format"].startswith(str(zarr_format) if zarr_format != "n5" else "n5")
    assert zarr.open("g.zarr").attrs["year"] == 2024
    run("create", "g.zarr#b", "--like", "g.zarr#a", "--shape", "9", "-c", "3")
    assert (zarr.open("g.zarr")["b"].shape, zarr.open("g.zarr")["b"].chunks) == ((9,), (3,))
    assert zarr.open("g.zarr")["b"].dtype == "i2"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--shape", "x"], "is not a shape"),
        (["-c", "5"], "also needs --shape"),
        (["--shape", "4", "-z", "zstd:level"], "NAME:LEVEL"),
        (["--shape", "4", "-z", "gzip:12"], "12 is more than 9"),
        (["--shape", "4", "-c", "4,4"], "2 lengths for 1 dimensions"),
        (["--shape", "4", "-c", "{"], "is not valid JSON"),
        (["--shape", "4", "-a", "x"], "KEY=VALUE"),
    ],
)
def test_invalid_create_writes_nothing(run, tmp_path, words, why):
    assert why in run(
        "create", "x.zarr", *words, status=2 if "12" not in why and "lengths" not in why else 1
    )
    assert not list(tmp_path.iterdir())


# --- copy ---


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_copy_hierarchy(run, zarr_format):
    survey(zarr_format)
    planned = read("copy", "survey.zarr", "copy.zip", "--dry-run", run=run)
    assert {node["path"] for node in planned["nodes"]} == {"/", *(f"/{path}" for path in EVERY)}
    assert not zarr.resolve_store_path("copy.zip")[0].exists("x")
    done = read("copy", "survey.zarr", "copy.zip", run=run)
    assert done["nodes"] == planned["nodes"]
    assert done["keys"] == 24
    assert done["nbytes"] > 1000
    assert paths("copy.zip") == EVERY
    run("copy", "copy.zip#north/height", "one.zarr#deep/down")
    assert np.array_equal(
        zarr.open("one.zarr")["deep/down"][...], zarr.open("survey.zarr")["north/height"][...]
    )


@pytest.mark.parametrize(
    "words",
    [
        ("create", "n.zarr", "--shape", "3", "--dtype", "int16", "--overwrite"),
        ("copy", "survey.zarr", "n.zarr", "--overwrite"),
        ("convert", "survey.zarr", "n.zarr", "--zarr-format", "2", "--overwrite"),
        ("remove", "n.zarr", "--yes"),
    ],
    ids=lambda words: words[0],
)
def test_files_of_the_user_are_not_removed(run, words):
    survey()
    zarr.create_array("n.zarr", shape=(2, 2), dtype="float64")
    Path("n.zarr/results.csv").write_text("1,2")
    assert "results.csv" in run(*words, status=1)
    assert Path("n.zarr/results.csv").read_text() == "1,2"
    assert zarr.open_array("n.zarr").dtype == "float64"


def test_copy_selected_nodes(run):
    survey()
    assert "copied 3 nodes" in run("copy", "survey.zarr", "n.zarr", "--include", "/north")
    assert paths("n.zarr") == {"north", "north/height"}
    run("copy", "survey.zarr", "s.zarr", "--include", "*/height", "--exclude", "n*")
    assert paths("s.zarr") == {"south", "south/height"}
    assert "no node in survey.zarr matches west" in run(
        "copy", "survey.zarr", "w.zarr", "--include", "west", status=1
    )
    assert "--overwrite removes it first" in run("copy", "survey.zarr", "n.zarr", status=1)
    run("copy", "survey.zarr", "n.zarr", "--skip-existing")
    run("copy", "survey.zarr", "s.zarr", "--overwrite")
    assert paths("n.zarr") == paths("s.zarr") == EVERY


def test_copy_into_another_format_fails(run):
    survey(2)
    zarr.create_group("three.zarr")
    assert "is of the format v2" in run("copy", "survey.zarr", "three.zarr#x", status=1)


# --- move, remove, consolidate ---


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_commands_update_consolidated_metadata(run, zarr_format):
    survey(zarr_format)
    assert read("consolidate", "survey.zarr", run=run)["nodes"] == 4
    assert "move /north/height (12, 20)" in run(
        "move", "survey.zarr#north", "survey.zarr#west", "--dry-run"
    )
    run("move", "survey.zarr#north", "survey.zarr#west")
    run("copy", "survey.zarr#west", "survey.zarr#east")
    run("create", "survey.zarr#more", "--shape", "3")
    assert run("remove", "survey.zarr#west/height", "--yes").startswith("removed")
    assert "valid" in run("check", "survey.zarr", "--meta-only")
    assert paths("survey.zarr") == {
        "west", "east", "east/height", "south", "south/height", "more",
    }  # fmt: skip
    zarr.open_group("survey.zarr", use_consolidated=False).create_group("unknown")
    zarr.open("survey.zarr", "r+", use_consolidated=False)
    run("consolidate", "survey.zarr", "--remove")
    assert zarr.open_group("survey.zarr").metadata.consolidated is None


def test_progress_bars(run):
    survey()
    result = CliRunner().invoke(cli, ["consolidate", "survey.zarr", "--progress"])
    assert result.exit_code == 0, result.output
    assert "reading metadata" in result.stderr
    assert "100%" in result.stderr


def test_move_between_stores(run):
    survey()
    run("move", "survey.zarr", "other.zip#below")
    assert paths("other.zip") == {"below", *(f"below/{path}" for path in EVERY)}
    assert "no Zarr array or group here" in run("info", "survey.zarr", status=1)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_remove_asks_for_confirmation(run, tmp_path, zarr_format):
    survey(zarr_format)
    found = read("remove", "survey.zarr", "--dry-run", run=run)
    assert found["nodes"] == {"array": 2, "group": 3}
    assert found["nbytes"] > 1000
    output = run("remove", "survey.zarr#north", input="n\n", status=1)
    assert "Remove survey.zarr#north (1 array, 1 group" in output
    assert "north/height" in paths("survey.zarr")
    assert "--yes" in run("remove", "survey.zarr#north", input="", status=1)
    run("remove", "survey.zarr#north", input="y\n")
    assert paths("survey.zarr") == {"south", "south/height"}
    run("remove", "survey.zarr", "-y")
    assert not [path for path in (tmp_path / "survey.zarr").rglob("*") if path.is_file()]


def test_unmanaged_keys_are_removed_with_force_only(run, tmp_path):
    survey()
    (tmp_path / "survey.zarr/notes.txt").write_text("mine")
    assert "notes.txt" in run("remove", "survey.zarr", "-y", status=1)
    assert paths("survey.zarr") == EVERY
    assert "every key" in run("remove", "survey.zarr", "--force", "-y")
    assert not list((tmp_path / "survey.zarr").iterdir())
    assert "no keys are stored" in run("remove", "survey.zarr", "--force", "-y", status=1)


# --- advice in errors ---


def test_import_errors_advise_options(run, tmp_path):
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        file.create_dataset("x", (2,), h5py.regionref_dtype)
        file.create_dataset("y", data=[1])
    assert "--skip-unsupported to skip" in run("import", "odd.h5", "odd.zarr", status=1)
    run("import", "odd.h5", "odd.zarr", "--skip-unsupported")
    again = run("import", "odd.h5", "odd.zarr", "--skip-unsupported", status=1)
    assert "--overwrite removes it first" in again
    assert "=True" not in again


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_changes_of_members_update_consolidated_metadata(run, tmp_path, zarr_format):
    zarr.create_group("s.zarr", zarr_format=zarr_format).create_array("a/x", data=[1, 2])
    zarr.consolidate_metadata("s.zarr", zarr_format=zarr_format)
    with h5py.File(tmp_path / "y.h5", "w") as file:
        file["y"] = [1, 2, 3]
    for words in (
        ("attrs", "set", "s.zarr#a", "k", "1"),
        ("attrs", "rm", "s.zarr#a", "k"),
        ("rechunk", "s.zarr#a/x", "s.zarr#b/x", "-c", "1"),
        ("import", "y.h5", "s.zarr#a/y", "--group", "y", "--zarr-format", zarr_format),
    ):
        run(*words)
        assert "valid" in run("check", "s.zarr", "--meta-only"), words
    assert run("ls", "-r", "s.zarr").split() == ["a/", "a/x", "a/y", "b/", "b/x"]
