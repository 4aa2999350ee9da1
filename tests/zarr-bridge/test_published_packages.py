"""Packages that strangers have published, as they are; each test needs its own.

What is written here is compared byte by byte with what zarr-python writes by the same
package, and read by both.
"""

import os
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, entry_points, version
from itertools import product

import numcodecs
import numpy as np
import pytest
import zarr as zarr_python
import zarr_core as zarr
from zarr_core.config import config
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_core.registry.provider import normalize_name

RNG = np.random.default_rng(3)
FIELD = RNG.normal(20, 5, (16, 64)).astype("float32")


REQUIRED = "ZARR_CORE_REQUIRE_PLUGINS" in os.environ  # make plugins


def is_installed(distribution):
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def needs(*distributions):
    missing = [name for name in distributions if not is_installed(name)]
    reason = f"needs published packages: pip install {' '.join(missing)}"
    return pytest.mark.skipif(bool(missing) and not REQUIRED, reason=reason)


def both_write(tmp_path, values, **options):
    """The array by us, after it was found the same as that of zarr-python."""
    ours = zarr.create_array(tmp_path / "ours.zarr", shape=values.shape, **options)
    ours[...] = values
    with warnings.catch_warnings(action="ignore"):  # zarr-python: not in the specification
        theirs = zarr_python.create_array(tmp_path / "theirs.zarr", shape=values.shape, **options)
        theirs[...] = values
        read = zarr_python.open_array(tmp_path / "ours.zarr", mode="r")[...]
    files = [
        {
            str(file.relative_to(place)): file.read_bytes()
            for file in place.rglob("*")
            if file.is_file() and file.name != "zarr.json"
        }
        for place in (tmp_path / "ours.zarr", tmp_path / "theirs.zarr")
    ]
    assert files[0] == files[1]
    assert files[0]
    again = zarr.open_array(tmp_path / "theirs.zarr")
    for one, two, three in zip(again[...].flat, read.flat, ours[...].flat, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    return again


def definition(name, **configuration):
    return {"name": name, "configuration": configuration}


@needs("zarr-template")
def test_zarr_template(tmp_path):
    encoding = definition("template", format="x{1}/y{0}.chunk")
    with config.set(providers={"chunk_key_encoding.template": "zarr-template"}):
        array = both_write(
            tmp_path,
            FIELD,
            dtype="float32",
            chunks=(8, 16),
            chunk_key_encoding=encoding,
            compressors=None,
        )
        assert (tmp_path / "ours.zarr" / "x3" / "y1.chunk").is_file()
        assert np.array_equal(array[...], FIELD)
        assert array.nchunks_initialized == 8


@needs("zarr-vlen-ndarray")
@pytest.mark.parametrize("compressors", [None, [definition("crc32c")]], ids=str)
def test_zarr_vlen_ndarray(tmp_path, compressors):
    data_type = definition("ndarray", dtype="float32", shape=[None, 2])
    values = np.empty(7, object)
    for length in range(7):
        values[length] = RNG.normal(0, 1, (length, 2)).astype("float32")
    options = {"dtype": data_type, "chunks": 3, "compressors": compressors}
    array = both_write(tmp_path, values, serializer=definition("vlen-ndarray"), **options)
    array[2:4] = values[5:7]
    assert np.array_equal(zarr.open_array(tmp_path / "theirs.zarr")[2], values[5])
    assert array.fill_value.shape == (0, 2)
    assert zarr.create_array(shape=2, dtype=data_type).metadata.codecs[0].name == "vlen-ndarray"


@needs("kerchunk")
def test_kerchunk_in_version_2(tmp_path):
    zarr_python.create_array(
        tmp_path / "a.zarr", shape=4, chunks=4, dtype=">f4", zarr_format=2, compressors=None
    )
    place = tmp_path / "a.zarr" / ".zarray"
    dtype = '{"names": ["a", "b"], "formats": ["<i2", ">f4"]}'
    filters = f'[{{"id": "record_member", "member": "b", "dtype": {dtype}}}]'
    place.write_text(place.read_text().replace('"filters": null', f'"filters": {filters}'))
    records = np.zeros(4, [("a", "<i2"), ("b", ">f4")])
    records["b"] = [1, 2.5, -3, 4]
    (tmp_path / "a.zarr" / "0").write_bytes(records.tobytes())
    assert list(zarr.open_array(tmp_path / "a.zarr")[:]) == [1, 2.5, -3, 4]


@needs("kerchunk")
def test_kerchunk_in_version_3():
    store = zarr.MemoryStore()
    dtype = {"names": ["a", "b"], "formats": ["<i2", "<f4"]}
    codec = definition("numcodecs.record_member", member="b", dtype=dtype)
    array = zarr.create_array(store, shape=4, dtype="float32", serializer=codec, compressors=None)
    records = np.zeros(4, [("a", "<i2"), ("b", "<f4")])
    records["b"] = [1, 2.5, -3, 4]
    store.set("c/0", records.tobytes())
    assert list(array[:]) == [1, 2.5, -3, 4]
    # It registers another `zlib` with numcodecs, which does not replace ours.
    zlib = create_extension("codec", ExtensionDefinition("numcodecs.zlib", {"level": 1}))
    assert type(zlib).__module__ == "zarr_codecs.zlib"


# Codecs of each distribution that zarr-python can use without a configuration; at least so many.
LOOPS = {
    "imagecodecs-zarr": 60,
    "imagecodecs-numcodecs": 40,
    "cft-zarr": 1,
    "omfiles": 1,
    "nd-image-codecs": 1,
    "healpix-compress": 1,
}
FIELDS = {
    "uint8": RNG.integers(0, 255, (16, 16), "uint8"),
    "uint16": RNG.integers(0, 4000, (16, 16), "uint16"),
    "int32": RNG.integers(-200, 255, (16, 16), "int32"),
    "float32": np.cumsum(RNG.normal(size=(16, 16)), 1).astype("float32"),
    "float64": np.cumsum(RNG.normal(size=256)),
    "picture": RNG.integers(0, 255, (16, 16, 3), "uint8"),
}


def codecs_of(distribution):
    """Codecs for zarr-python, and those for numcodecs that need no configuration, by their names."""
    found = {}
    for point in entry_points():
        if normalize_name(point.dist.name) != distribution:
            continue
        if point.group == "numcodecs.codecs":
            with suppress(Exception):
                found[point.name] = numcodecs.get_codec({"id": point.name})
        elif point.group.startswith("zarr.codecs"):
            name = point.group.removeprefix("zarr.codecs").lstrip(".") or point.name
            found[name] = {"name": name}
    return found


@pytest.mark.filterwarnings("ignore")  # of zarr-python: not in the specification; of the codecs
@pytest.mark.parametrize("distribution", [pytest.param(it, marks=needs(it)) for it in LOOPS])
def test_every_codec_that_zarr_python_can_use(distribution, tmp_path):
    """What it writes is read equal, and it reads what is written here."""
    used, problems, codecs = set(), [], codecs_of(distribution)
    for number, ((name, codec), (label, values), role) in enumerate(
        product(codecs.items(), FIELDS.items(), ("compressors", "serializer", "filters"))
    ):
        options = {"shape": values.shape, "chunks": values.shape, "dtype": values.dtype}
        options["zarr_format"] = 3 if isinstance(codec, dict) else 2
        options |= {"compressors": None, role: codec if role == "serializer" else [codec]}
        theirs, ours = tmp_path / f"{number}-theirs", tmp_path / f"{number}-ours"
        try:
            array = zarr_python.create_array(theirs, **options)
            array[...] = values
            expected = array[...]
        except Exception:
            continue
        used.add(name)
        try:
            with config.set(providers={f"codec.{name}": distribution for name in codecs}):
                read = zarr.open_array(theirs)[...]
                array = zarr.create_array(ours, **options)
                array[...] = values
                again = array[...]
            read_there = zarr_python.open_array(ours)[...]
        except Exception as error:
            problems.append(f"{name} {label} {role}: {error}")
            continue
        results = {"read": read, "written": again, "read by zarr-python": read_there}
        for what, found in results.items():
            if not np.array_equal(found, expected, equal_nan=True):
                problems.append(f"{name} {label} {role}: {what} differs")
    assert not problems, "\n".join(problems)
    assert len(used) >= LOOPS[distribution], sorted(used)


@needs("numcodecs-wasm-zlib")
@pytest.mark.parametrize("name", ["zlib.rs", "linear-quantize.rs"])
def test_codecs_in_webassembly(name):
    identifier = next(
        point.name
        for point in entry_points(group="numcodecs.codecs")
        if point.name in (name, name.replace("-", "_"))
    )
    configuration = {"level": 3} if name == "zlib.rs" else {"bits": 8, "dtype": "float32"}
    codec = {"name": f"numcodecs.{identifier}", "configuration": configuration}
    role = {"compressors": [codec]} if name == "zlib.rs" else {"filters": [codec]}
    array = zarr.create_array(data=FIELD, **({"compressors": None} | role))
    assert np.allclose(array[...], FIELD, atol=0.5)


@needs("zarr-sqlite")
def test_zarr_sqlite(tmp_path):
    from zarr_sqlite import SQLiteStore

    store = SQLiteStore(str(tmp_path / "a.sqlite"))
    array = zarr.create_array(store, data=FIELD, chunks=(4, 16), shards=(8, 32))
    array[3:5, 10:20] = 7
    read = zarr_python.open_array(store, mode="r")[...]
    assert np.array_equal(read, array[...])
    assert (read[3:5, 10:20] == 7).all()


@needs("imagecodecs", "virtual-tiff", "virtualizarr")
def test_virtual_tiff(tmp_path):
    """Its ManifestStore implements get and list_dir only."""
    from imagecodecs import tiff_encode
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtual_tiff import VirtualTIFF

    (tmp_path / "a.tif").write_bytes(tiff_encode(FIELDS["uint16"]))
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    group = zarr.open_group(VirtualTIFF(ifd=0)(f"file://{tmp_path}/a.tif", registry))
    assert [np.array_equal(array[...], FIELDS["uint16"]) for _, array in group.arrays()] == [True]


@needs("zarr-n5")
def test_zarr_n5(tmp_path):
    from zarr_n5 import N5WrapperStore

    group = zarr.create_group(tmp_path, zarr_format="n5")
    for name in (names := ("gzip", "zstd", "blosc")):
        group.create_array(name, data=FIELD, chunks=(5, 20), compressors=name)
    store = N5WrapperStore(zarr_python.storage.LocalStore(tmp_path, read_only=True))
    for library in (zarr, zarr_python):
        arrays = dict(library.open_group(store, mode="r").members())
        assert all(np.array_equal(arrays[name][...], FIELD.T) for name in names)
