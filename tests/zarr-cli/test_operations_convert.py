"""Commands that convert, rechunk and import."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from waits import wait_until


def weather(zarr_format=3, location="w.zarr"):
    """Create a hierarchy with dimension names."""
    root = zarr.create_group(location, zarr_format=zarr_format)
    t = np.random.default_rng(0).normal(size=(12, 20, 30)).round(1)

    def named(*names):
        if zarr_format == 3:
            return {"dimension_names": names}
        return {"attributes": {"_ARRAY_DIMENSIONS": [*names]}}

    root.create_array("air/t", data=t, chunks=(1, 20, 30), **named("time", "y", "x"))
    root.create_array("time", data=np.arange(12), chunks=5, **named("time"))
    root.create_array("y", data=np.arange(20.0), chunks=20, **named("y"))
    return root, t


def chunks(location):
    found = zarr.open_group(location)
    return {path: array.chunks for path, array in found.arrays(max_depth=None)}


@pytest.mark.parametrize("zarr_format", [2, 3, "n5"])
def test_rechunk_hierarchy(run, zarr_format):
    weather(zarr_format)
    run("rechunk", "w.zarr", "p.zarr", "-c", "2,10,10", "--include", "air", "--verify")
    assert chunks("p.zarr") == {"air/t": (2, 10, 10), "time": (5,), "y": (20,)}
    assert zarr.open("p.zarr").metadata.document != {}
    if zarr_format == "n5":
        return
    planned = json.loads(run("rechunk", "w.zarr", "d.zarr", "-c", "time=all,y=5", "-n", "--json"))
    costs = {step["path"]: step["cost"] for step in planned["steps"]}
    assert costs == {
        "/": "document", "/air": "document", "/air/t": "recode", "/time": "recode", "/y": "recode",
    }  # fmt: skip
    assert not os.path.exists("d.zarr")
    run("rechunk", "w.zarr", "d.zarr", "-c", "time=all,y=5", "--verify", "--consolidate")
    assert not zarr.check_consolidated(zarr.open_group("d.zarr"))
    assert chunks("d.zarr") == {"air/t": (12, 5, 30), "time": (12,), "y": (5,)}
    for path, array in zarr.open_group("w.zarr").arrays(max_depth=None):
        assert np.array_equal(zarr.open("d.zarr")[path][...], array[...])
    again = run("rechunk", "w.zarr", "d.zarr", "-c", "time=all,y=5")
    assert again.count("  nothing\n") == 5


def test_rechunk_shards_codecs_and_data_types(run):
    _, t = weather()
    run(
        "rechunk", "w.zarr#air/t", "one.zip#deep/t", "-c", "4,5,30", "-s", "12,10,30",
        "-z", "zstd:9", "-z", "crc32c", "-d", "float32", "--max-memory", "64M", "--verify",
    )  # fmt: skip
    new = zarr.open("one.zip")["deep/t"]
    assert (new.chunks, new.shards, new.dtype) == ((4, 5, 30), (12, 10, 30), "f4")
    assert new.compressors[0].level == 9
    assert np.array_equal(new[...], t.astype("f4"))


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        ([], 2, "no change requested"),
        (["-c", "1,2"], 1, "2 lengths for 3 dimensions"),
        (["-c", "time=x"], 2, "is not a list of lengths"),
        (["-c", "time=12", "--max-memory", "1K"], 1, "limit is 1.0 KiB"),
        (["-c", "time=12", "--max-memory", "much"], 2, "is not a size"),
        (["-d", "int8"], 1, "do not fit into int8"),
    ],
)
def test_invalid_requests(run, words, status, why):
    weather()
    assert why in run("rechunk", "w.zarr#air/t", "x.zarr", *words, status=status)
    assert not os.path.exists("x.zarr/zarr.json")


def test_convert_formats(run):
    _, t = weather(2)
    looked = run("convert", "w.zarr", "-n")
    assert "would be converted in place: 5 nodes, v2 to v3" in looked
    assert "    note: the attribute _ARRAY_DIMENSIONS becomes dimension_names" in looked
    assert not os.path.exists("w.zarr/zarr.json")
    run("convert", "w.zarr", "n.zarr", "--zarr-format", "n5")
    assert np.array_equal(zarr.open("n.zarr")["air/t"][...], t)
    done = json.loads(run("convert", "n.zarr", "three.zarr", "-s", "auto", "--json"))
    assert (done["source_format"], done["dest_format"], done["cost"]) == ("n5", "v3", "recode")
    assert zarr.open("three.zarr")["air/t"].shards is not None
    zarr.create_array("flags.zarr", data=np.array([True]))
    assert "cannot be converted" in run(
        "convert", "flags.zarr", "f.n5", "--zarr-format", "n5", "-n", status=1
    )


@pytest.mark.parametrize("steps", [1, 2])
def test_conversion_in_place_removes_the_old_metadata(run, steps):
    root, t = weather(2)
    zarr.consolidate_metadata(root)
    run("convert", "w.zarr", "--dry-run", "--remove-source")
    assert not os.path.exists("w.zarr/zarr.json")
    if steps == 2:
        run("convert", "w.zarr")
        assert zarr.open("w.zarr", zarr_format=2)["air/t"].shape == t.shape
    run("convert", "w.zarr", "--remove-source")
    assert not list(Path("w.zarr").rglob(".z*"))
    assert list(Path("w.zarr").rglob("0.0.0"))
    assert np.array_equal(zarr.open("w.zarr")["air/t"][...], t)
    run("convert", "w.zarr", "--zarr-format", "2", "--remove-source")
    assert not list(Path("w.zarr").rglob("zarr.json"))
    assert np.array_equal(zarr.open("w.zarr")["air/t"][...], t)


def test_import(run):
    h5py = pytest.importorskip("h5py")
    values = np.arange(600.0).reshape(20, 30)
    with h5py.File("run.h5", "w") as file:
        file.create_dataset("sensors/a", data=values, chunks=(5, 10), compression="gzip")
        file.create_dataset("b", data=np.arange(5))
    assert "/sensors/a" in run("import", "run.h5", "run.zarr")
    assert chunks("run.zarr")["sensors/a"] == (5, 10)
    assert np.array_equal(zarr.open("run.zarr")["sensors/a"][...], values)
    report = json.loads(
        run("import", "run.h5", "some.zip#x", "--include", "sensors/*", "-c", "20,30", "--json")
    )
    assert report["left_out"] == []
    assert chunks("some.zip") == {"x/sensors/a": (20, 30)}
    one = ("import", "run.h5", "v.zarr", "--group", "sensors/a")
    run(*one, "-c", "10,10", "-z", "gzip:1")
    assert np.array_equal(zarr.open("v.zarr")[...], values)
    assert zarr.open("v.zarr").chunks == (10, 10)
    assert "--overwrite removes it first" in run(*one, status=1)
    run(*one, "-c", "all,5", "--overwrite", "-z", "none")
    assert (zarr.open("v.zarr").chunks, zarr.open("v.zarr").compressors) == ((20, 5), ())


def test_import_timeout(run, tmp_path):
    pytest.importorskip("h5py")
    path = tmp_path / "pipe.h5"
    os.mkfifo(path)  # opening a FIFO blocks until there is a writer
    assert "Pass a larger --timeout" in run(
        "import", str(path), "a.zarr", "--timeout", "1", status=1
    )
    assert not Path("a.zarr").exists()


@pytest.mark.slow
def test_interrupt_and_resume(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    shape = (64, 256, 512)
    source = zarr.create_array("a.zarr", shape=shape, dtype="f8", chunks=(1, 256, 256))
    for start in range(0, 64, 8):
        source[start : start + 8] = random.normal(size=(8, 256, 512))
    words = ["rechunk", "a.zarr", "b.zarr", "-c", "64,16,16", "-z", "gzip:9", "--no-progress"]
    words += ["--max-memory", "10M"]
    command = [sys.executable, "-m", "zarr_cli", *words]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(list(Path("b.zarr").rglob("c/0/*/*"))) >= 70)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate()
    assert first.returncode == 130
    assert said.startswith("Interrupted. The source is unchanged. Written data is kept at b.zarr")
    assert "To resume, run the same command again." in said
    assert len(said.strip().splitlines()) == 1
    assert not os.path.exists("b.zarr/zarr.json")
    assert os.path.exists("b.zarr/.copying")
    before = {
        path: path.stat().st_mtime_ns for path in Path("b.zarr/c").rglob("*") if path.is_file()
    }
    assert before
    subprocess.run(command, check=True, capture_output=True)
    kept = [path for path, when in before.items() if path.stat().st_mtime_ns == when]
    assert len(kept) > len(before) // 2
    new = zarr.open("b.zarr")
    assert all(np.array_equal(new[n], source[n]) for n in range(0, 64, 9))


def test_resume_hint_depends_on_the_store(run, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    zarr.create_array("a.zarr", data=[1, 2])
    monkeypatch.setattr("zarr_transfer.convert", interrupted)
    goes_on = run("rechunk", "a.zarr", "b.zarr", "-c", 1, "--overwrite", status=130)
    assert "To resume, run the same command without --overwrite." in goes_on
    ends = run("rechunk", "a.zarr", "b.zip", "-c", 1, status=130)
    assert "remove b.zip and start again" in ends
    assert "resume" not in ends
