"""Constraints of several members on existing arrays: the same verdicts as TensorStore, with every difference."""

import json
import random

import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataMismatchError

ts = pytest.importorskip("tensorstore")

PAIRS = 200
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CRC = {"name": "crc32c"}
FILLS = {
    "uint8": [0, 255, 7],
    "int32": [0, -5, 7],
    "float32": [0.0, -0.0, 1.5, "NaN", "Infinity", "0x7fc00001"],
    "float64": [0.0, 2.5, "NaN", "-Infinity"],
    "bool": [False, True],
    "complex64": [[0.0, 0.0], [1.5, "NaN"]],
}


def compressor(rng):
    name = rng.choice(["gzip", "zstd", "blosc", "crc32c"])
    if name == "gzip":
        return {"name": name, "configuration": {"level": rng.choice([1, 5, 8])}}
    if name == "zstd":
        level, checksum = rng.choice([0, 3]), rng.random() < 0.5
        return {"name": name, "configuration": {"level": level, "checksum": checksum}}
    if name == "blosc":
        members = {
            "cname": rng.choice(["lz4", "zstd"]),
            "clevel": rng.choice([3, 5]),
            "shuffle": "shuffle",
        }
        return {"name": name, "configuration": {**members, "typesize": 4, "blocksize": 0}}
    return CRC


def chain(rng, ndim, endian):
    codecs = []
    if ndim > 1 and rng.random() < 0.4:
        order = rng.sample(range(ndim), ndim)
        codecs.append({"name": "transpose", "configuration": {"order": order}})
    codecs.append({"name": "bytes", **({"configuration": {"endian": endian}} if endian else {})})
    codecs += [compressor(rng) for _ in range(rng.choice([0, 1, 1, 2]))]
    return codecs


def existing(rng):
    """The metadata of an array that TensorStore can open."""
    ndim = rng.choice([1, 2, 3])
    data_type = rng.choice(list(FILLS))
    inner = [rng.choice([2, 3]) for _ in range(ndim)]
    chunk = [length * rng.choice([1, 2]) for length in inner]
    endian = None if data_type in ("uint8", "bool") else rng.choice(["little", "little", "big"])
    codecs = chain(rng, ndim, endian)
    if rng.random() < 0.35:
        index = [BYTES, CRC]
        location = rng.choice(["start", "end"])
        members = {
            "chunk_shape": inner,
            "codecs": codecs,
            "index_codecs": index,
            "index_location": location,
        }
        codecs = [{"name": "sharding_indexed", "configuration": members}]
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [length * rng.choice([3, 5]) for length in chunk],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": rng.choice(
            [
                {"name": "default"},
                {"name": "default", "configuration": {"separator": "/"}},
                {"name": "default", "configuration": {"separator": "."}},
                {"name": "v2", "configuration": {"separator": "/"}},
                {"name": "v2"},
            ]
        ),
        "fill_value": rng.choice(FILLS[data_type]),
        "codecs": codecs,
        "attributes": {"units": "m", "valid": {"min": 0, "max": 9}, "count": 3},
    }
    if rng.random() < 0.5:
        document["dimension_names"] = rng.sample(["x", "y", None, ""], ndim)
    return document


def other(rng, value):
    """A different value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value[:-1], other(rng, value[-1])]
    return {"little": "big", "big": "little", "start": "end", "end": "start", "lz4": "zstd",
            "zstd": "lz4", "shuffle": "noshuffle"}[value]  # fmt: skip


def partial_codecs(rng, codecs, pointer, changes):
    """A chain that the given one satisfies, apart from changes whose pointers are recorded."""
    result = []
    names = [codec["name"] for codec in codecs]
    serializer = next(i for i, name in enumerate(names) if name in ("bytes", "sharding_indexed"))
    for number, codec in enumerate(codecs):
        at = f"{pointer}/{number}"
        configuration = dict(codec.get("configuration", {}))
        if number == serializer and rng.random() < 0.3:
            continue  # the array -> bytes codec is unconstrained
        if codec["name"] == "transpose":
            order = configuration["order"]
            ndim = len(order)
            if order == [*reversed(range(ndim))] and rng.random() < 0.5:
                configuration["order"] = "F"
            elif rng.random() < 0.2:
                configuration["order"] = order[1:] + order[:1]
                changes.add(f"{at}/configuration/order")
            result.append({"name": "transpose", "configuration": configuration})
            continue
        given = {}
        for member, value in configuration.items():
            here = f"{at}/configuration/{member}"
            if rng.random() < 0.5:
                continue
            if member in ("codecs", "index_codecs"):
                given[member] = partial_codecs(rng, value, here, changes)
            elif rng.random() < 0.15:
                given[member] = other(rng, value)
                changes.add(here)
            else:
                given[member] = value
        name = codec["name"]
        if number > serializer and rng.random() < 0.08:
            name, given = rng.choice([n for n in ("gzip", "zstd", "crc32c") if n != name]), {}
            changes -= {change for change in changes if change.startswith(f"{at}/")}
            changes.add(at)
        result.append(
            name
            if not given and rng.random() < 0.5
            else {"name": name, "configuration": given}
            if given
            else {"name": name}
        )
    if rng.random() < 0.08:
        result.append("crc32c")
        # Whether positions also differ depends on the names; only the count is certain.
        changes.add(pointer)
    return result


def constraint(rng, document):
    """A part of the document, and the pointers of the members that differ from it."""
    changes = set()
    given = {}
    for member, value in document.items():
        if rng.random() < 0.4:
            continue
        if member == "codecs":
            given[member] = partial_codecs(rng, value, "/codecs", changes)
        elif member == "attributes":
            given[member] = {name: item for name, item in value.items() if rng.random() < 0.5}
            if rng.random() < 0.2:
                given[member]["new"] = None
                changes.add("/attributes/new")
            if "count" in given[member] and rng.random() < 0.5:
                given[member]["count"] = rng.choice([3.0, True, 4])
                if given[member]["count"] is True or given[member]["count"] == 4:
                    changes.add("/attributes/count")
        elif member in ("shape", "chunk_grid") and rng.random() < 0.2:
            lengths = value if member == "shape" else value["configuration"]["chunk_shape"]
            longer = other(rng, lengths)
            is_shape = member == "shape"
            given[member] = (
                longer
                if is_shape
                else {"name": "regular", "configuration": {"chunk_shape": longer}}
            )
            changes.add("/shape" if is_shape else "/chunk_grid/configuration/chunk_shape")
        elif member == "chunk_key_encoding" and rng.random() < 0.4:
            given[member], pointer = another_encoding(rng, value)
            changes |= pointer
        elif member == "dimension_names" and rng.random() < 0.3:
            given[member] = [*value[:-1], "other"]
            changes.add("/dimension_names")
        elif member == "data_type" and rng.random() < 0.1:
            given[member] = "int16"
            changes.add("/data_type")
        elif member == "fill_value":
            given["data_type"] = document["data_type"]  # TensorStore requires both
            changes.discard("/data_type")
            given[member] = value
            if rng.random() < 0.2:
                given[member] = next(
                    fill
                    for fill in FILLS[document["data_type"]]
                    if json.dumps(fill) != json.dumps(value)
                )
                changes.add("/fill_value")
        else:
            given[member] = value
    return given, changes


def another_encoding(rng, value):
    defaults = {"default": "/", "v2": "."}
    stored = value.get("configuration", {}).get("separator", defaults[value["name"]])
    name = rng.choice(["default", "v2"])
    separator = rng.choice(["/", ".", None])
    given = {"name": name, **({"configuration": {"separator": separator}} if separator else {})}
    if name != value["name"]:
        return given, {"/chunk_key_encoding"}
    if (separator or defaults[name]) != stored:
        return given, {"/chunk_key_encoding/configuration/separator"}
    return given, set()


def generated():
    rng = random.Random(20240607)
    for _ in range(PAIRS):
        document = existing(rng)
        yield document, *constraint(rng, document)


CASES = list(generated())


def refusal(path, given):
    """Why TensorStore does not open an array with a constraint; empty if it does."""
    spec = {"driver": "zarr3", "kvstore": f"file://{path}/", "metadata": given}
    try:
        ts.open(spec, open=True, read=True).result()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("number", range(PAIRS))
def test_the_verdict_is_that_of_tensorstore_and_every_difference_is_named(number, tmp_path):
    document, given, changes = CASES[number]
    (tmp_path / "zarr.json").write_text(json.dumps(document))
    refused = refusal(tmp_path, given)
    if not refused:
        assert not changes, "the test knows what it changed"
        assert zarr.open_array(tmp_path, "r", metadata=given).shape == tuple(document["shape"])
        return
    assert "FAILED_PRECONDITION" in refused, "it understood the constraint"
    with pytest.raises(MetadataMismatchError) as caught:
        zarr.open_array(tmp_path, "r", metadata=given)
    found = [problem.pointer for problem in caught.value.problems]
    assert len(found) == len({*found})
    # If a codec is missing, the codecs of that kind have no common positions.
    counted = tuple(f"{change}/" for change in changes if change.endswith("codecs"))
    assert {change for change in changes if not change.startswith(counted)} <= {*found}
    assert {pointer for pointer in found if not pointer.startswith(counted)} <= changes


def test_both_verdicts_and_most_members_occur():
    refused = [changes for _, _, changes in CASES if changes]
    assert 60 <= len(refused) <= PAIRS - 60
    assert sum(len(changes) > 1 for changes in refused) >= 30
    named = {change.split("/")[1] for changes in refused for change in changes}
    assert named == {
        "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
        "dimension_names", "attributes",
    }  # fmt: skip
