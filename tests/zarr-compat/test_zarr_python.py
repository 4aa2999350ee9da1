"""Programs print the same with zarr-compat and with zarr-python, and each reads the files of the other."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import fsspec
import numpy as np
import pytest
import zarr
import zarr_core
from zarr_compat import api, errors, storage
from zarr_core.errors import NodeExistsError
from zarr_core.extension import StoreError
from zarr_python_programs import PROGRAMS

SCRIPT = Path(__file__).with_name("zarr_python_programs.py")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run all programs with both libraries; return a function from a name to both results.

    A result is what the program prints, and its directory.
    """
    started = []
    for library in ("-m zarr_compat", ""):
        place = tmp_path_factory.mktemp("programs")
        command = [sys.executable, *library.split(), str(SCRIPT), str(place)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append((subprocess.Popen(command, text=True, **pipes), place))
    done = []
    for process, place in started:
        printed, error = process.communicate()
        assert process.returncode == 0, error[-3000:]
        done.append((json.loads(printed), place))
    return lambda name: [(printed[name], place / name) for printed, place in done]


def keys_of(place):
    return {path.relative_to(place) for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_the_same(name, run):
    (ours, _), (theirs, _) = run(name)
    assert ours == theirs
    assert ours


@pytest.mark.parametrize("name", ["undefined_fill_value", "two_formats", "booleans"])
def test_stores_the_same_chunks(name, run):
    (_, ours), (_, theirs) = run(name)
    names = {key for key in keys_of(theirs) if key.name[0].isdigit()}
    assert names == {key for key in keys_of(ours) if key.name[0].isdigit()}


def test_each_reads_the_zeros_of_the_other(run):
    (_, ours), (_, theirs) = run("undefined_fill_value")
    for name, expected in {"a": [0] * 8, "b": [0] * 4 + [5] * 4, "c": [0] * 6}.items():
        for place in (ours, theirs):
            assert zarr.open_array(place / name, mode="r")[:].tolist() == expected
            assert api.open_array(place / name, mode="r")[:].tolist() == expected
            assert zarr_core.open_array(place / name)[:].tolist() == expected


@pytest.mark.parametrize("program", ["undefined_fill_value", "two_formats"])
def test_tensorstore_reads_the_same_elements(program, run):
    tensorstore = pytest.importorskip("tensorstore", reason="TensorStore is not installed")
    (_, ours), (_, theirs) = run(program)
    compared = 0
    for file in (*theirs.rglob(".zarray"), *theirs.rglob("zarr.json")):
        if file.name == "zarr.json" and json.loads(file.read_text())["node_type"] == "group":
            continue
        found, expected = (
            tensorstore.open(
                {
                    "driver": "zarr" if file.name == ".zarray" else "zarr3",
                    "kvstore": {
                        "driver": "file",
                        "path": str(place / file.parent.relative_to(theirs)),
                    },
                }
            )
            .result()
            .read()
            .result()
            for place in (ours, theirs)
        )
        np.testing.assert_array_equal(found, expected)
        compared += 1
    assert compared >= 3


def test_zarr_python_opens_consolidated_metadata_with_recorded_nodes(tmp_path):
    """It refuses them if the group of a node is missing."""
    zarr.open_group(tmp_path, mode="w", zarr_format=2).create_group("images")
    zarr.consolidate_metadata(tmp_path)
    api.create_group(tmp_path / "images" / "b", zarr_format=2)
    api.open_group(tmp_path, mode="r+")["images/b"].create_array("x", data=np.arange(3))
    for library in (zarr, api):
        root = library.open_group(tmp_path, mode="r", use_consolidated=True)
        assert root["images/b/x"][:].tolist() == [0, 1, 2]


def test_each_reads_the_nodes_of_both_formats_of_the_other(run):
    (_, ours), (_, theirs) = run("two_formats")
    for place in (ours, theirs):
        for first, second in ((2, 3), (3, 2)):
            for library in (zarr, api):
                for zarr_format, length in ((first, 3), (second, 5)):
                    root = library.open_group(
                        place / f"{first}{second}", mode="r", zarr_format=zarr_format
                    )
                    assert root["x"][:].tolist() == [*range(length)]


def test_each_reads_the_booleans_of_the_other(run):
    """zarr-python reads other elements from both, because numcodecs decodes Delta of booleans wrongly."""
    values = np.random.default_rng(0).random((5, 7)) > 0.5
    (_, ours), (_, theirs) = run("booleans")
    for name in ("delta", "delta_numbers", "scale", "both"):
        for place in (ours, theirs):
            assert (api.open_array(place / name, mode="r")[...] == values).all()
        found, expected = (zarr.open_array(place / name, mode="r")[...] for place in (ours, theirs))
        assert (found == expected).all()
    assert (zarr.open_array(ours / "scale", mode="r")[...] == values).all()


def test_each_reads_the_references_of_the_other(run):
    (_, ours), (_, theirs) = run("references")
    expected = [0, 1, 99, 99, *range(4, 12)]
    for place in (ours, theirs):
        options = {"fo": str(place / "saved.json"), "remote_protocol": "file"}
        for library, library_storage in ((zarr, zarr.storage), (api, storage)):
            fs = fsspec.filesystem(
                "reference", **options, remote_options={"asynchronous": True}, asynchronous=True
            )
            store = library_storage.FsspecStore(fs, read_only=True)
            root = library.open_group(store, mode="r", zarr_format=2)
            assert root["b"][:].tolist() == expected
            assert root["g/c"][:].tolist() == [0, 1, 2]


def test_references_that_were_changed_cannot_be_pickled():
    fs = fsspec.filesystem("reference", fo={"a": "b"}, asynchronous=True)
    store = storage.FsspecStore(fs)
    unchanged = pickle.loads(pickle.dumps(store.core))
    assert bytes(unchanged.get("a")) == b"b"
    with pytest.raises(ValueError, match="writing to references is not supported"):
        unchanged.set("c", b"d")
    store.core.set("c", b"d")
    with pytest.raises(StoreError, match=r"save them with save_json\(\)"):
        pickle.dumps(store.core)
    with pytest.raises(ValueError, match="writing to references is not supported"):
        storage.FsspecStore(fs, read_only=True).core.set("c", b"e")
    assert fs.references == {"a": "b", "c": b"d"}


def test_a_node_of_another_format_is_created_with_a_warning(tmp_path):
    zarr_core.create_group(tmp_path, zarr_format=2)
    with pytest.raises(NodeExistsError, match="conflicts with a node of v3"):
        zarr_core.create_group(tmp_path, zarr_format=3)
    with pytest.warns(UserWarning, match="has a node of the format v2, which conflicts"):
        api.create_group(tmp_path, zarr_format=3)


def test_a_group_with_incomplete_consolidated_metadata_is_kept(tmp_path):
    """Modes that write do not use consolidated metadata."""
    root = api.open_group(tmp_path, mode="w", zarr_format=2)
    root.create_group("a/b").create_array("x", data=np.arange(3))
    api.consolidate_metadata(tmp_path)
    document = json.loads((tmp_path / ".zmetadata").read_text())
    del document["metadata"]["a/b/.zgroup"]
    (tmp_path / ".zmetadata").write_text(json.dumps(document))
    with pytest.raises(errors.GroupNotFoundError, match="has 'a/b/x', but not the group 'a/b'"):
        api.open_group(tmp_path, mode="r")
    assert api.open_group(tmp_path, mode="a")["a/b/x"].shape == (3,)


def test_chunks_of_one_format_are_not_overwritten_by_the_other(tmp_path):
    api.create_array(tmp_path, data=np.arange(3), zarr_format=2)
    key_encoding = {"name": "v2", "separator": "."}
    with pytest.raises(FileExistsError, match="contains '0'"):
        api.create_array(tmp_path, data=np.arange(4), chunk_key_encoding=key_encoding)
    assert api.open_array(tmp_path)[:].tolist() == [0, 1, 2]
