"""Programs that run with zarr-python or with zarr-compat: ``python zarr_python_programs.py DIRECTORY``.

``test_zarr_python.py`` compares what they print, and what both libraries read from their files.
"""

import json
import sys
import warnings
from base64 import b64encode
from pathlib import Path

import numpy as np
import zarr


def undefined_fill_value(place):
    """Zeros in arrays of version 2 whose fill value is undefined."""
    options = {"shape": (6,), "chunks": (2,), "dtype": "i4", "fill_value": None, "zarr_format": 2}
    root = zarr.open_group(place, mode="w", zarr_format=2)
    root.create_array("a", **{key: options[key] for key in options if key != "zarr_format"})
    zarr.create_array(place, name="b", config={"write_empty_chunks": True}, **options)
    data = {key: options[key] for key in ("chunks", "fill_value", "zarr_format")}
    zarr.create_array(place, name="c", data=np.zeros(6, "i4"), **data)
    for array in (root["a"], zarr.open(f"{place}/b", config={"write_empty_chunks": True})):
        array[:] = [1, 0, 0, 0, 0, 0]
        array.resize((8,))
        array[6:] = 0
        array[:2] = 0
        array[4:] = 5
    for name, array in sorted(root.arrays()):
        yield name, array.nchunks_initialized, array.config.write_empty_chunks, array[:].tolist()
    for array in (root["a"], dict(root.members())["a"], zarr.open(f"{place}/a")):
        array[:] = 0
        yield array.nchunks_initialized, array.fill_value


def two_formats(place):
    """Nodes of one version in a store of the other."""
    for first, second in ((2, 3), (3, 2)):
        store = f"{place}/{first}{second}"
        zarr.open_group(store, mode="w", zarr_format=first).create_array("x", data=np.arange(3))
        try:
            zarr.open_group(store, mode="w-", zarr_format=second)
        except FileExistsError:
            yield "exists"
        group = zarr.open_group(store, mode="a", zarr_format=second)
        group.create_array("y", data=np.arange(4))
        zarr.create_array(store, name="x", data=np.arange(5), zarr_format=second)
        zarr.create_array(store, name="g/h", data=np.arange(6), zarr_format=second)
        try:
            zarr.open_group(store, mode="w-")
        except FileExistsError:
            yield "exists"
        for zarr_format in (first, second, None):
            opened = zarr.open_group(store, mode="r", zarr_format=zarr_format)
            arrays = {path: opened[path] for path in ("x", "y", "g/h") if path in opened}
            yield {path: (array.metadata.zarr_format, array[:].tolist())
                   for path, array in arrays.items()}  # fmt: skip


def consolidated_without_a_group(place):
    """Consolidated metadata that has members of a group, but not the group."""
    for zarr_format in (2, 3):
        store = f"{place}/{zarr_format}"
        root = zarr.open_group(store, mode="w", zarr_format=zarr_format)
        root.create_group("a/b").create_array("x", data=np.arange(3))
        zarr.consolidate_metadata(store)
        file = f"{store}/{'.zmetadata' if zarr_format == 2 else 'zarr.json'}"
        with open(file) as opened:
            document = json.load(opened)
        if zarr_format == 2:
            del document["metadata"]["a/b/.zgroup"]
        else:
            del document["consolidated_metadata"]["metadata"]["a/b"]
        with open(file, "w") as opened:
            json.dump(document, opened)
        try:
            zarr.open_group(store, mode="r")
        except (ValueError, FileNotFoundError) as error:
            yield isinstance(error, ValueError)
        else:
            yield "opened"
        unconsolidated = zarr.open_group(store, mode="r", use_consolidated=False)
        yield unconsolidated["a/b/x"][:].tolist()
        zarr.consolidate_metadata(store)
        yield zarr.open_group(store, mode="r")["a/b/x"][:].tolist()


def an_array_is_no_group(place):
    """Opening an array as a group, in all modes."""
    zarr.create_array(place, data=np.arange(3))
    for mode in ("r", "r+", "a"):
        try:
            zarr.open_group(place, mode=mode)
        except zarr.errors.ContainsArrayError as error:
            yield isinstance(error, ValueError)


def chunk_shapes(place):
    """Shapes of chunks that are not given."""
    x = np.zeros((1000, 1000), "f4")
    cases = [((1000, 1000), "u1"), ((1000, 1000), "f8"), ((37, 4111, 1023), "c16"), ((0, 5), "i2"),
             ((), "f8"), ((10**9,), "f8"), ((3, 10**6), str), ((10**6,), "U10"), ((7,) * 9, "i2")]  # fmt: skip
    for shape, dtype in cases:
        options = {"shape": shape, "dtype": dtype}
        group = zarr.open_group({}, mode="w")
        yield [
            zarr.create_array({}, **options).chunks,
            zarr.create_array({}, chunks="auto", **options, zarr_format=2).chunks,
            zarr.create(**options).chunks,
            zarr.create(chunks=None, **options).chunks,
            zarr.zeros(**options).chunks,
            zarr.open_array({}, mode="w", **options).chunks,
            group.create_array("a", **options).chunks,
            group.require_array("b", **options).chunks,
        ]
    yield [f(x).chunks for f in (zarr.array, zarr.zeros_like, zarr.empty_like)]
    like = zarr.array(x, chunks=(10, 20))
    yield zarr.ones_like(like).chunks, zarr.full_like(like, fill_value=2).chunks
    zarr.save(place, a=x)
    yield zarr.open(place, mode="r")["a"].chunks


def booleans(place):
    """Filters of numcodecs for booleans."""
    from numcodecs import Delta, FixedScaleOffset

    values = np.random.default_rng(0).random((5, 7)) > 0.5
    root = zarr.open_group(place, mode="w", zarr_format=2)
    for name, filters in {
        "delta": [Delta("|b1")],
        "delta_numbers": [Delta("|b1", "|i1")],
        "scale": [FixedScaleOffset(0, 1.0, "|b1")],
        "both": [FixedScaleOffset(0, 1.0, "|b1"), Delta("|b1")],
    }.items():
        array = root.create_array(name, shape=(5, 7), chunks=(2, 3), dtype="?", filters=filters)
        array[...] = values
        yield name, [item.get_config() for item in array.filters]


def references(place):
    """Arrays that are added to references, or replace them, as kerchunk's inline_array does."""
    import fsspec

    values = np.arange(12, dtype="<i4")
    Path(place).mkdir()
    Path(place, "values.bin").write_bytes(bytes(7) + values.tobytes())
    document = {"shape": [12], "chunks": [6], "dtype": "<i4", "fill_value": None, "order": "C",
                "compressor": None, "filters": None, "zarr_format": 2}  # fmt: skip
    file = f"file://{place}/values.bin"
    refs = {".zgroup": '{"zarr_format": 2}'}
    for name in ("a", "b"):
        refs[f"{name}/.zarray"] = json.dumps(document)
        refs |= {f"{name}/{part}": [file, 7 + 24 * part, 24] for part in (0, 1)}
    fs = fsspec.filesystem(
        "reference", fo=refs, remote_protocol="file", remote_options={"asynchronous": True},
        asynchronous=True,
    )  # fmt: skip
    store = zarr.storage.FsspecStore(fs, read_only=False)
    group = zarr.open_group(store, zarr_format=2)
    yield group["a"][:].tolist(), sorted(group)
    whole = group.create_array(
        "a", dtype="i4", shape=(12,), chunks=(12,), fill_value=0, overwrite=True, compressors=None
    )
    whole[...] = group["b"][...] + 1
    whole.attrs["n"] = 1
    group.create_group("g").create_array("c", data=np.arange(3))
    group["b"][2:4] = 99
    again = zarr.open_group(zarr.storage.FsspecStore(fs, read_only=True), mode="r", zarr_format=2)
    for path in ("a", "b", "g/c"):
        yield path, again[path][:].tolist(), dict(again[path].attrs)
    yield sorted(group), "a/1" in fs.references, fs.references["b/1"] == [file, 31, 24]
    del group["a"]
    yield sorted(group), sorted(key for key in fs.references if key.startswith("a"))
    saved = {key: value.decode() if isinstance(value, bytes) and key.rpartition("/")[2][0] == "."
             else "base64:" + b64encode(value).decode() if isinstance(value, bytes) else value
             for key, value in fs.references.items()}  # fmt: skip
    Path(place, "saved.json").write_text(json.dumps(saved))
    yield Path(place, "values.bin").read_bytes() == bytes(7) + values.tobytes()


PROGRAMS = {
    program.__name__: program
    for program in (
        undefined_fill_value, two_formats, consolidated_without_a_group,
         an_array_is_no_group,
        chunk_shapes, booleans, references,
    )
}  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    printed = {name: [*program(f"{sys.argv[1]}/{name}")] for name, program in PROGRAMS.items()}
    json.dump(printed, sys.stdout, default=str)
