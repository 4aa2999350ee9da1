"""``zarr-core bench codec``: sizes are exact and recommended options are valid."""

import json
import shlex

import numpy as np
import pytest
import zarr_core as zarr
from zarr_cli.bench.candidates import Candidate, candidates
from zarr_cli.bench.measure import Trial
from zarr_cli.bench.recommend import best, recommend


def bench(run, location, *words):
    return json.loads(run("bench", "codec", location, "--json", "--seconds", "1", *words))


def walk(count=20_000):
    """Return integers with small differences."""
    return np.cumsum(np.random.default_rng(0).integers(-3, 4, count)).astype("i4")


def make(layout):
    shards = (20_000,) if layout == "sharded" else None
    zarr_format = 2 if layout == "v2" else 3
    return zarr.create_array(
        "a.zarr", data=walk(), chunks=20_000, shards=shards, zarr_format=zarr_format
    )


@pytest.mark.parametrize("layout", ["v3", "v2", "sharded"])
def test_sizes_match_rechunked_arrays(run, layout):
    # Compiled code may use another version of a library than the codecs that are measured.
    with zarr.config.set(native="off"):
        check_sizes(run, layout)


def check_sizes(run, layout):
    make(layout)
    found = bench(run, "a.zarr")
    assert found["sample"] == {"chunks": 1, "nbytes": 80_000}
    by_name = {each["codecs"]: each for each in found["results"]}
    wanted = by_name[found["recommended"]["size"]]
    assert wanted["nbytes"] == min(each["nbytes"] for each in found["results"])
    assert wanted["nbytes"] < 0.8 * by_name["present"]["nbytes"]
    assert by_name["none"]["nbytes"] == 80_000
    again = [
        wanted,
        by_name["gzip:6"],
        *(each for name, each in by_name.items() if "delta" in name),
    ]
    for number, each in enumerate(again):
        shards = ["-s", "none"] if layout == "sharded" else []
        location = f"new{number}.zarr"
        run("rechunk", "a.zarr", location, *shards, *shlex.split(each["options"]), "-c", "20000")
        new = zarr.open(location)
        assert new.nbytes_stored() == each["nbytes"]
        assert np.array_equal(new[...], walk())
    if layout != "sharded":
        assert by_name["present"]["nbytes"] == zarr.open("a.zarr").nbytes_stored()


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=(30, 40)).astype("f4"),
        np.random.default_rng(0).random((30, 40)) > 0.9,
        np.arange("2000-01-01", "2002-01-01", dtype="M8[D]"),
        np.array(["north", "south", "a"] * 100, dtype="U6"),
        np.array([("a", 1), ("b", 2)] * 50, dtype=[("n", "S3"), ("i", "i4")]),
        np.arange(300, dtype="u1"),
        np.linspace(0, 1, 100).astype("c8"),
    ],
    ids=lambda values: values.dtype.kind,
)
def test_all_data_types(run, values):
    zarr.create_array("a.zarr", data=values, chunks=20, compressors="gzip")
    found = bench(run, "a.zarr", "--chunks", "3")
    names = {each["codecs"] for each in found["results"]}
    assert {"present", "none"} <= names
    assert len(names) > 8
    assert not [each for each in found["excluded"] if "lossy" in each["reason"]]
    printed = run("bench", "codec", "a.zarr", "--seconds", "0.5", "--all")
    assert "now: " in printed
    assert printed.count("\nfor ") == 3


def test_variable_length_strings(run):
    zarr.create_array("t.zarr", data=["a", "some text", ""] * 50, dtype=str, chunks=50)
    found = bench(run, "t.zarr")
    assert {"present", "none", "gzip:6"} <= {each["codecs"] for each in found["results"]}


def test_additional_codecs(run):
    make("v3")
    own = "numcodecs.delta:dtype=<i4 + numcodecs.shuffle:elementsize=4 + zstd:5"
    found = bench(run, "a.zarr", "--only", "--also", own, "--also", "numcodecs.bitround:keepbits=3",
                  "--also", "numcodecs.quantize:digits=1,dtype=<f4")  # fmt: skip
    assert {each["codecs"] for each in found["results"]} == {
        "present",
        own.replace("numcodecs.", ""),
    }
    assert len(found["excluded"]) == 2
    assert "acme" in run("bench", "codec", "a.zarr", "--also", "acme:5", status=1)


def test_lossy_codecs_are_excluded(run):
    zarr.create_array("f.zarr", data=np.random.default_rng(0).normal(size=1000), chunks=100)
    found = bench(run, "f.zarr", "--only", "--also", "numcodecs.bitround:keepbits=3")
    assert found["excluded"][0]["reason"] == "is lossy for these elements"
    assert [each["codecs"] for each in found["results"]] == ["present"]


def test_empty_chunks_are_not_sampled(run):
    array = zarr.create_array("s.zarr", shape=(1000, 1000), chunks=(10, 10), dtype="i2")
    array[:30] = np.arange(1000)
    found = bench(run, "s.zarr", "--chunks", "4")
    assert found["sample"]["chunks"] >= 1
    assert all(each["ratio"] < 50 for each in found["results"])
    zarr.create_array("e.zarr", shape=(100, 100), chunks=(10, 10), dtype="f4", fill_value=np.nan)
    assert "only the fill value" in run("bench", "codec", "e.zarr", status=1)
    zarr.create_group("g.zarr")
    assert "is a group" in run("bench", "codec", "g.zarr", status=1)


def prepare_trial(nbytes, encoding, decoding, present=False):
    trial = Trial(Candidate(present=present), (), None, nbytes)
    trial.encoding, trial.decoding = [encoding], [decoding]
    return trial


def test_best_are_not_dominated():
    trials = [
        prepare_trial(100, 1.0, 1.0),
        prepare_trial(100, 2.0, 1.0),  # slower
        prepare_trial(200, 0.1, 5.0),
        prepare_trial(300, 0.1, 5.0),  # larger
        prepare_trial(400, 0.1, 0.1),
        prepare_trial(100, 1.0, 1.0),  # the same
    ]
    assert best(trials) == {0, 2, 4, 5}


def test_present_codecs_are_preferred_if_nearly_as_good():
    mib = 1 << 20
    trials = [
        prepare_trial(50 * mib, 9.0, 9.0),
        prepare_trial(80 * mib, 0.12, 0.1, present=True),
        prepare_trial(80 * mib, 0.1, 0.1),
        prepare_trial(100 * mib, 0.0, 0.0),
    ]
    assert recommend(trials) == {"size": 0, "speed": 3, "balance": 1}


def test_candidates_are_unique():
    for kind in ("i4", "f8", "?", "u1", "M8[ns]", "U5", "O"):
        found = list(candidates(np.dtype(kind)))
        assert len(found) == len(set(found)) == len({str(each) for each in found})
