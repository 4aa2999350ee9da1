"""Import of HDF5 files: types, links, filters, layouts, interruption, memory."""

import tracemalloc
import zlib

import h5py
import hdf5plugin
import numpy as np
import pytest
import zarr_core as zarr
from failing_store import FaultyStore
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from zarr_core.errors import NodeExistsError
from zarr_core.extension import StoreError
from zarr_core.optional import reporter_for
from zarr_core.registry.resolve import format_named
from zarr_import import import_hdf5
from zarr_import.chunks import copy_chunks
from zarr_import.variable import Variable

RANDOM = np.random.default_rng(0)
COLOURS = h5py.enum_dtype({"RED": 1, "DARK BLUE": 2}, basetype="u1")


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w") as opened:
        yield opened


def imported(file, **options):
    store = zarr.MemoryStore()
    report = import_hdf5(file, store, **options)
    return zarr.open(store), report


# --- elements ---

ARRAYS = {
    "int8": np.arange(-3, 3, dtype="i1"),
    "uint64": np.array([0, 2**64 - 1], "u8"),
    "big": np.arange(6, dtype=">i4").reshape(2, 3),
    "half": np.array([1.5, np.nan, np.inf], "f2"),
    "double": RANDOM.normal(size=(3, 2)),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j, -1j], "c8"),
    "fixed": np.array([b"ab", b""], "S5"),
    "opaque": np.array([b"abc", b"de\0"], "V3"),
    "record": np.array([(1, 2.5, True)], [("a", "<i2"), ("b", "<f8"), ("c", "?")]),
    "scalar": np.float32(3),
    "empty": np.zeros((0, 4), "i2"),
}


@pytest.mark.parametrize("chunked", [False, True], ids=["contiguous", "chunked"])
@pytest.mark.parametrize("name", ARRAYS)
def test_elements(file, name, chunked):
    values = np.asarray(ARRAYS[name])
    options = {"chunks": True, "compression": "gzip", "maxshape": (None,) * values.ndim}
    file.create_dataset("a", data=values, **(options if chunked and values.ndim else {}))
    root, report = imported(file)
    array = root["a"]
    assert array.dtype == values.dtype.newbyteorder("=")
    assert array[...].tobytes() == values.astype(array.dtype).tobytes()
    direct = chunked and values.ndim
    assert report["a"].how == ("chunks copied" if direct else "elements copied")
    assert not report.notes


def test_converted_elements(file):
    file["text"] = ["a", "é", ""]
    file["enum"] = np.array([1, 2, 1], COLOURS)
    file.create_dataset("vectors", (2,), "(3,)f4")[...] = np.arange(6).reshape(2, 3)
    file.create_dataset("references", data=[file["text"].ref, None], dtype=h5py.ref_dtype)
    stamps = np.array(["2001-02-03", "NaT"], "M8[us]")
    file["times"] = stamps.astype(h5py.opaque_dtype(stamps.dtype))
    file["nothing"] = h5py.Empty("f4")
    h5py.h5d.create(file.id, b"bits", h5py.h5t.STD_B16LE, h5py.h5s.create_simple((3,)))
    padded = np.dtype(
        {"names": ["a", "b"], "formats": ["i1", ">f8"], "offsets": [0, 8], "itemsize": 24}
    )
    file["padded"] = np.array([(1, 2.5), (3, 4.5)], padded)
    root, report = imported(file)
    assert root["text"][...].tolist() == ["a", "é", ""]
    assert root["enum"][...].tolist() == [1, 2, 1]
    assert root["enum"].attrs == {"flag_values": [1, 2], "flag_meanings": "RED DARK_BLUE"}
    assert root["vectors"][...].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert root["references"][...].tolist() == ["/text", ""]
    assert root["times"].dtype == "M8[us]"
    assert np.array_equal(root["times"][...], stamps, equal_nan=True)
    assert root["nothing"].shape == (0,)
    assert root["bits"].dtype == "u2"
    assert root["padded"][...].tolist() == [(1, 2.5), (3, 4.5)]
    assert {path for path, _ in report.notes} == {
        "enum",
        "vectors",
        "references",
        "nothing",
        "bits",
    }


UNSUPPORTED = {
    "longer": (np.longdouble(1), "is not supported; convert"),
    "sequences": (np.array([np.arange(2), np.arange(3)], object), "use zarr_format=2"),
    "regions": (None, "region references"),
    "array_of_texts": (None, "variable-length fields"),
    "bytes": (None, "not UTF-8"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_elements_raise(file, name):
    values, message = UNSUPPORTED[name]
    file["first"] = 1
    if name == "sequences":
        file.create_dataset(name, data=values, dtype=h5py.vlen_dtype("i4"))
    elif name == "regions":
        file.create_dataset(name, (1,), h5py.regionref_dtype)
    elif name == "array_of_texts":
        file.create_dataset(name, (1,), np.dtype(([("t", h5py.string_dtype())], (2,))))
    elif name == "bytes":
        file.create_dataset(name, data=[b"\xff"], dtype=h5py.string_dtype())
    else:
        file[name] = values
    store = zarr.MemoryStore()
    with pytest.raises(ValueError, match=f"/{name}: .*{message}"):
        import_hdf5(file, store)
    assert "zarr.json" not in list(store.list())  # no group that looks complete
    if name == "bytes":  # detected only while reading
        return
    assert not list(store.list())
    root, report = imported(file, unsupported="skip")
    assert list(root) == ["first"]
    assert [left.source for left in report.left_out] == [f"/{name}"]


def test_sequences_in_version_2(file):
    values = np.array([np.arange(2), np.arange(3)], object)
    file.create_dataset("v", data=values, dtype=h5py.vlen_dtype("i2"))
    root, _ = imported(file, zarr_format=2)
    assert [item.tolist() for item in root["v"][...]] == [[0, 1], [0, 1, 2]]


FIELDS = np.dtype([
    ("number", ">i4"),
    ("vector", "<f4", (3,)),
    ("text", h5py.string_dtype()),
    ("to", h5py.ref_dtype),
    ("inner", [("flag", "?"), ("text", h5py.string_dtype()), ("matrix", "u1", (2, 2))]),
    ("plain", [("a", "i1"), ("b", ">f8")]),
])  # fmt: skip


@pytest.mark.parametrize("timeout", [None, 60])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fields_that_become_arrays(file, zarr_format, timeout):
    values = np.zeros((4, 2), FIELDS)
    values["number"], values["vector"] = 7, np.arange(24).reshape(4, 2, 3)
    values["text"], values["to"] = "é", file.ref
    values["inner"]["text"], values["inner"]["matrix"] = "b", [[1, 2], [3, 4]]
    values["plain"]["b"] = 2.5
    for name, chunks in (("d", (2, 1)), ("g/whole", None)):
        data = file.create_dataset(name, (4, 2), FIELDS, chunks=chunks, compression=chunks and 4)
        data[2:] = values[2:]
        data.attrs["units"] = "m"
    file["one"] = values[3, 1]
    source = file.filename
    file.close()
    root, report = imported(source, zarr_format=zarr_format, timeout=timeout)
    for name in ("d", "g/whole", "one"):
        group, part = root[name], (...,) if name == "one" else (slice(2, None),)
        assert list(group) == sorted(FIELDS.names)
        assert group.attrs == ({} if name == "one" else {"units": "m"})
        expected = values[3, 1] if name == "one" else values[2:]
        wanted = {field: expected[field] for field in ("number", "vector", "text", "plain")}
        wanted |= {f"inner/{field}": expected["inner"][field] for field in FIELDS["inner"].names}
        for field, elements in wanted.items():
            assert np.asarray(group[field][part]).tolist() == np.asarray(elements).tolist()
        assert np.asarray(group["to"][part]).ravel()[0] == "/"
    assert root["d/number"].chunks == (2, 1)
    assert root["d/number"][:2].tolist() == [[0, 0], [0, 0]]
    assert root["d/text"][0, 0] == ""
    notes = {note for path, note in report.notes if path in ("d", "d/inner", "one")}
    assert notes == {
        "has fields that are arrays or of variable length; stored as an array for each field"
    }


def test_attributes(file):
    attributes = file.create_dataset("d", data=1).attrs
    attributes["text"], attributes["latin"] = "é", np.bytes_(b"\xe9")
    attributes["texts"] = ["a", "b"]
    attributes["number"], attributes["one"] = np.int16(3), np.array([1.5])
    attributes["nan"], attributes["flag"] = np.nan, True
    attributes["record"] = np.array((1, 2.0), [("a", "i4"), ("b", "f4")])
    attributes["to"], attributes["part"] = file.ref, file["d"].ref
    attributes["none"], attributes["no_text"] = h5py.Empty("f4"), h5py.Empty("S1")
    attributes["complex"] = 1 - 1j
    attributes["NAME"] = "not a scale"
    attributes.create("enum", 2, dtype=COLOURS)
    file.attrs["title"] = "root"
    root, report = imported(file)
    assert root.attrs == {"title": "root"}
    assert root["d"].attrs == {
        "text": "é", "latin": "é", "texts": ["a", "b"], "number": 3, "one": [1.5], "nan": "NaN",
        "flag": True, "record": {"a": 1, "b": 2.0}, "to": "/", "part": "/d", "none": None,
        "no_text": "", "complex": [1.0, -1.0], "NAME": "not a scale", "enum": 2,
    }  # fmt: skip
    assert len(report.notes) == 5


def test_fill_values(file):
    for name, fill in {"seven": 7, "zero": 0, "default": None}.items():
        options = {} if fill is None else {"fillvalue": fill}
        data = file.create_dataset(name, (10,), "i4", chunks=(4,), compression="gzip", **options)
        data[:2] = 1
    for zarr_format in (3, 2):
        root, report = imported(file, zarr_format=zarr_format)
        for name, array in root.arrays():
            assert np.array_equal(array[...], file[name][...]), (name, zarr_format)
            if zarr_format == 3:
                assert report[name].how == "chunks copied"
                assert array.nchunks_initialized == 1
            else:  # a fill value would mark missing elements
                assert array.fill_value is None
        assert (root["seven"][5], root["zero"][5]) == (7, 0)


# --- filters ---

FILTERS = {
    "gzip": ({"compression": 6}, ["numcodecs.zlib"], True),
    "all of NetCDF's": (
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        ["numcodecs.fletcher32", "numcodecs.shuffle", "numcodecs.zlib"], True,
    ),
    "lzf": ({"compression": "lzf"}, ["zstd"], False),
    "scale offset": ({"scaleoffset": 0}, ["zstd"], False),
    "szip": ({"compression": "szip"}, ["zstd"], False),
    "zstd": (hdf5plugin.Zstd(clevel=5), ["zstd"], True),
    "bzip2": (hdf5plugin.BZip2(), ["numcodecs.bz2"], True),
    "blosc": (hdf5plugin.Blosc(cname="lz4", clevel=7, shuffle=2), ["blosc"], True),
    "blosc2": (hdf5plugin.Blosc2(cname="zstd"), ["blosc"], False),
    "lz4": (hdf5plugin.LZ4(), ["numcodecs.lz4"], False),
    "bitshuffle": (hdf5plugin.Bitshuffle(), ["blosc"], False),
    "checksum alone": ({"fletcher32": True}, ["numcodecs.fletcher32"], True),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_filters(file, name):
    """Elements are equal for all filters; with ``direct``, so are the encoded bytes."""
    options, codecs, direct = FILTERS[name]
    values = RANDOM.integers(0, 50, size=(50, 37)).astype("i4")
    dataset = file.create_dataset("a", data=values, chunks=(16, 10), **options)
    root, report = imported(file)
    assert sorted(set(report["a"].codecs) - {"bytes"}) == codecs
    assert report["a"].how == ("chunks copied" if direct else "elements copied")
    assert np.array_equal(root["a"][...], values)
    assert root["a"].chunks == (16, 10)
    if direct:
        _, raw = dataset.id.read_direct_chunk((16, 30))
        assert bytes(root.store.get("a/c/1/3")) == raw
    decoded, told = imported(file, codecs="auto")
    assert told["a"].how == "elements copied"
    assert np.array_equal(decoded["a"][...], values)


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_filters_of_converted_elements(file, zarr_format):
    """Filters apply to elements as stored in the file, with a different size."""
    padded = np.dtype(
        {"names": ["a", "b"], "formats": ["i1", "<f8"], "offsets": [0, 8], "itemsize": 24}
    )
    values = {
        "texts": (np.array(["a", "bcd", ""] * 3, object), h5py.string_dtype()),
        "references": (np.array([file.ref] * 9), h5py.ref_dtype),
        "padded": (np.array([(1, 2.5)] * 9, padded), padded),
        "vectors": (np.arange(27, dtype="i2").reshape(9, 3), "(3,)i2"),
    }
    for name, options in (
        ("plain", {"compression": 4, "shuffle": True}),
        ("zstd", hdf5plugin.Zstd()),
    ):
        for what, (data, dtype) in values.items():
            checked = {"fletcher32": True} if what in ("padded", "vectors") else {}
            dataset = file.create_dataset(
                f"{name}/{what}", (9,), dtype, chunks=(4,), **options, **checked
            )
            dataset[...] = data
    file.create_dataset("blosc", data=values["padded"][0], chunks=(4,), **hdf5plugin.Blosc())
    root, report = imported(file, zarr_format=zarr_format)
    assert root["blosc"][...].tolist() == [(1, 2.5)] * 9
    for name in ("plain", "zstd"):
        assert root[f"{name}/texts"][...].tolist() == ["a", "bcd", ""] * 3
        assert root[f"{name}/padded"][...].tolist() == [(1, 2.5)] * 9
        assert np.array_equal(root[f"{name}/vectors"][...], np.arange(27).reshape(9, 3))
        assert root[f"{name}/references"][...].tolist() == ["/"] * 9
        assert report[f"{name}/vectors"].how == "chunks copied"


def test_chunks_with_skipped_filters(file):
    """A filter that is not applied to a chunk is recorded in the filter mask."""
    values = np.arange(64, dtype="i4").reshape(8, 8)
    dataset = file.create_dataset("a", data=values, chunks=(4, 4), compression="gzip", shuffle=True)
    dataset.id.write_direct_chunk((0, 4), values[:4, 4:].tobytes(), filter_mask=3)
    root, report = imported(file)
    assert report["a"].how == "chunks copied"
    assert np.array_equal(root["a"][...], values)


def test_other_chunks_and_codecs(file):
    values = RANDOM.normal(size=(100, 90)).astype("f4")
    file.create_dataset("a", data=values, chunks=(7, 11), compression="gzip")
    root, report = imported(file, chunks=(10, 10), shards=(50, 30), codecs="auto", max_memory=1)
    assert (root["a"].chunks, root["a"].shards) == ((10, 10), (50, 30))
    assert report["a"].codecs == ("bytes", "zstd")
    assert np.array_equal(root["a"][...], values)
    root, report = imported(file, chunks=(10, 10))
    assert (report["a"].how, report.notes) == ("elements copied", [])
    assert np.array_equal(root["a"][...], values)
    root, _ = imported(file, chunks={"a": "auto"}, codecs=["numcodecs.shuffle", {"id": "gzip"}])
    assert root["a"].chunks == (100, 90)
    assert np.array_equal(root["a"][...], values)
    with pytest.raises(ValueError, match="/a: .*3 lengths for 2 dimensions"):
        imported(file, chunks=(1, 1, 1))


# --- links, groups, selection of objects ---


def test_links(file, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["far"] = 5
    file["g/deep/a"] = [1, 2]
    file["again"] = file["g/deep/a"]
    file["g/up"] = file["/"]  # a cycle
    file["soft"] = h5py.SoftLink("/g/deep/a")
    file["gone"] = h5py.SoftLink("/nowhere")
    file["elsewhere"] = h5py.ExternalLink("other.h5", "/far")
    file["type"] = np.dtype("f4")
    root, report = imported(file)
    assert [path for path, _ in root.members(max_depth=None)] == ["again", "g", "g/deep"]
    reasons = {left.source: left.reason for left in report.left_out}
    assert reasons.keys() == {"/g/deep/a", "/g/up", "/soft", "/gone", "/elsewhere", "/type"}
    assert reasons["/g/deep/a"] == "another name of /again"
    assert reasons["/g/up"] == "another name of /"
    assert "external=True" in reasons["/elsewhere"]
    root, report = imported(file, external=True)
    assert root["elsewhere"][...] == 5


def test_external_files_are_not_read_by_default(file, tmp_path):
    (tmp_path / "secret").write_bytes(b"password")
    file.create_dataset("raw", (8,), "u1", external=[(str(tmp_path / "secret"), 0, 8)])
    layout = h5py.VirtualLayout((4,), "i4")
    layout[...] = h5py.VirtualSource("other.h5", "d", (4,))
    file.create_virtual_dataset("virtual", layout)
    for name in ("raw", "virtual"):
        with pytest.raises(ValueError, match=f"/{name}: .*external=True"):
            imported(file, include=name)
    root, _ = imported(file, include="raw", external=True)
    assert bytes(root["raw"][...]) == b"password"


def test_include_exclude_and_group(file):
    for name in ("a/x", "a/y", "a/deep/z", "b/x", "c"):
        file[name] = 1

    def paths(**options):
        return [path for path, _ in imported(file, **options)[0].members(max_depth=None)]

    assert paths(include="a", exclude="a/deep") == ["a", "a/x", "a/y"]
    assert paths(include=["*/x", "c"]) == ["a", "a/x", "b", "b/x", "c"]
    assert paths(group="/a") == ["deep", "deep/z", "x", "y"]
    assert imported(file, group="/a/x")[0][...] == 1  # an array as the root
    with pytest.raises(ValueError, match=r"'d' matches nothing; available are /a"):
        imported(file, include="d")
    with pytest.raises(ValueError, match="no such group"):
        import_hdf5(file.filename, zarr.MemoryStore(), group="/d")


def test_invalid_node_names(file):
    for name in ("...", "__x", "back\\slash", "zarr.json", "__g/inner", "fine", "ü b"):
        file[name] = 1
    with pytest.raises(ValueError, match=r"/\.\.\.: .*periods"):
        imported(file)
    for zarr_format, names in ((3, ["fine", "ü b"]), (2, ["fine"])):
        root, report = imported(file, unsupported="skip", zarr_format=zarr_format)
        assert list(root) == names
        assert {left.source for left in report.left_out} > {"/__g", "/__g/inner", "/zarr.json"}
    with (
        zarr.config.set(reserved_names="warn"),
        pytest.warns(UserWarning, match="reserves such names"),
    ):
        root, report = imported(file, unsupported="skip")
    assert list(root) == ["__g", "__x", "fine", "ü b"]
    assert list(root["__g"]) == ["inner"]


def test_files_that_are_not_hdf5_raise(tmp_path):
    (tmp_path / "a.h5").write_text("no file of HDF5")
    with pytest.raises(ValueError, match=r"a\.h5: is not an HDF5 file"):
        import_hdf5(tmp_path / "a.h5", tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError, match=r"b\.h5"):
        import_hdf5(tmp_path / "b.h5", tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_file_object_to_zip_file(tmp_path):
    with open(tmp_path / "a.h5", "w+b") as opened:
        with h5py.File(opened, "w") as file:
            file.create_dataset("a", data=np.arange(100), chunks=(10,), compression="gzip")
        import_hdf5(opened, tmp_path / "a.zip")
    with zarr.open(tmp_path / "a.zip", mode="r").store as store:
        assert np.array_equal(zarr.open(store)["a"][...], np.arange(100))


# --- destinations ---


def test_existing_destination_raises(file, tmp_path):
    file["a"] = [1, 2]
    place = tmp_path / "a.zarr"
    file.flush()
    import_hdf5(file, place)
    before = {
        key: bytes(zarr.resolve_store_path(place)[0].get(key))
        for key in zarr.resolve_store_path(place)[0].list()
    }
    with pytest.raises(NodeExistsError, match="overwrite=True"):
        import_hdf5(file, place)
    import_hdf5(file, place, path="more/of/it", zarr_format=None)
    file["b"] = 1
    import_hdf5(file, place, overwrite=True)
    assert list(zarr.open(place)) == ["a", "b"]
    group = zarr.create_group(tmp_path / "old.zarr", zarr_format=2)
    report = import_hdf5(file, group, path="sub")
    assert group["sub/a"].zarr_format == 2
    assert report["sub/a"].source == "/a"
    (tmp_path / "full.zarr" / "a").mkdir(parents=True)
    (tmp_path / "full.zarr" / "mine.txt").write_text("precious")
    with pytest.raises(NodeExistsError, match="mine.txt"):
        import_hdf5(file, tmp_path / "full.zarr")
    assert before.keys() >= {"zarr.json", "a/zarr.json"}


@pytest.mark.parametrize("codecs", [None, "auto"])
def test_interrupted_import_resumes(file, codecs):
    for name in ("a", "g/b"):
        file.create_dataset(name, data=np.arange(100), chunks=(10,), compression="gzip")
    inner, report = zarr.MemoryStore(), None
    for number in range(1, 200, 6):  # each call resumes after the previous failure
        try:
            report = import_hdf5(file, FaultyStore(inner, number), codecs=codecs)
        except StoreError:
            with pytest.raises(LookupError):
                zarr.open(inner)
        else:
            break
    assert report["a"].how == "already imported"
    for name in ("a", "g/b"):
        assert np.array_equal(zarr.open(inner)[name][...], np.arange(100))


def test_root_metadata_is_written_last(file):
    file["g/deep/a"] = np.arange(10)
    everything = FaultyStore(zarr.MemoryStore())
    import_hdf5(file, everything)
    for number in range(1, len(everything.calls) + 1):
        store = zarr.MemoryStore()
        with pytest.raises(StoreError):
            import_hdf5(file, FaultyStore(store, number, forever=True))
        assert store.get("zarr.json") is None


def test_chunks_of_an_interrupted_import_are_removed(file):
    dataset = file.create_dataset("a", (100,), "i4", chunks=(10,), compression="gzip")
    dataset[:10] = 1
    store = zarr.MemoryStore()
    store.set("a/c/5", b"of another day")
    import_hdf5(file, store)
    assert np.array_equal(zarr.open(store)["a"][...], dataset[...])


def test_chunks_that_decode_differently_are_not_copied(file):
    dataset = file.create_dataset("a", data=np.arange(100), chunks=(10,), compression="gzip")
    root, _ = imported(file)
    array, format_ = root["a"], format_named(3)
    for name, chunk in {"garbage": b"no stream", "other": zlib.compress(bytes(80))}.items():
        variable = Variable("a", name, (100,), "i8", lambda box: dataset[box])

        class Stored:
            listed = staticmethod(lambda: ([(0,), (1,)], []))
            read = staticmethod(lambda number, data=chunk: data)

        before = bytes(array.store.get("a/c/0"))
        reporter = reporter_for(None, 1)
        assert not copy_chunks(variable, Stored(), array, format_, reporter)
        assert bytes(array.store.get("a/c/0")) == before


def test_resume_with_a_different_array_raises(file):
    file["a"] = np.arange(10)
    store = zarr.MemoryStore()
    zarr.create_array(store, path="a", data=np.zeros(3))
    store.erase("zarr.json")
    with pytest.raises(NodeExistsError, match="another node"):
        import_hdf5(file, store)


def test_progress_and_report(file):
    file.create_dataset("a", data=np.arange(100), chunks=(10,), compression="gzip")
    file["g/b"] = np.arange(30)
    seen = []
    _, report = imported(file, progress=seen.append)
    assert [(now.path, now.done, now.total) for now in seen][-1] == ("g/b", 30, 30)
    assert (seen[-1].node, seen[-1].nodes, seen[-1].unit) == (2, 2, "elements")
    assert "3 arrays" not in str(report)
    assert "/a (100,) int64 chunks=(10,) bytes numcodecs.zlib: chunks copied" in str(report)
    assert report.asdict()["imported"][0]["kind"] == "group"


def test_memory_is_bounded(file):
    values = RANDOM.integers(0, 9, (1000, 4000), "i8")  # 32 MB
    file.create_dataset("a", data=values, chunks=(100, 100), compression="gzip", compression_opts=1)
    file.flush()

    class Discarding(zarr.MemoryStore):
        def set(self, key, value):
            if key.endswith("zarr.json"):
                super().set(key, value)

    tracemalloc.start()
    for options in ({"chunks": (50, 400), "codecs": "auto"}, {"codecs": "auto"}, {}):
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        import_hdf5(file, Discarding(), max_memory=4_000_000, **options)
        assert tracemalloc.get_traced_memory()[1] - before < 6_000_000
    tracemalloc.stop()


DTYPES = st.one_of(
    npst.integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="?"),
    npst.boolean_dtypes(),
    npst.byte_string_dtypes(min_len=1, max_len=4),
)


@settings(max_examples=30)
@given(data=st.data())
def test_any_array_is_imported(data):
    values = data.draw(npst.arrays(data.draw(DTYPES), npst.array_shapes(max_dims=3, max_side=9)))
    chunks = tuple(data.draw(st.integers(1, size)) for size in values.shape)
    options = data.draw(
        st.sampled_from([{}, {"chunks": chunks}, {"chunks": chunks, "compression": "gzip"},
                         {"chunks": chunks, "compression": 1, "shuffle": True, "fletcher32": True}])
    )  # fmt: skip
    with h5py.File.in_memory() as file:
        file.create_dataset("a", data=values, **options)
        for layout in ({}, {"codecs": "auto", "shards": "auto"}, {"zarr_format": 2}):
            root, _ = imported(file, **layout)
            here = root["a"][...]
            assert here.tobytes() == values.astype(here.dtype).tobytes()
            assert here.dtype == values.dtype.newbyteorder("=")


@pytest.mark.filterwarnings(
    "ignore"
)  # of zarr-python: numcodecs codecs are not in the specification
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_reads_arrays_with_filters_of_hdf5(file, tmp_path, zarr_format):
    zarr_python = pytest.importorskip("zarr", minversion="3")
    values = np.arange(24, dtype="i4").reshape(4, 6)
    options = {"chunks": (2, 3), "fletcher32": True}
    file.create_dataset("sum", data=values, **options)
    file.create_dataset("shuffled", data=values * 1.5, shuffle=True, compression="gzip", **options)
    import_hdf5(file, tmp_path / "a.zarr", zarr_format=zarr_format)
    read = zarr_python.open_group(tmp_path / "a.zarr", mode="r")
    assert np.array_equal(read["sum"][...], values)
    assert np.array_equal(read["shuffled"][...], values * 1.5)
