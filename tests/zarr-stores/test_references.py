"""References of kerchunk and virtualizarr: reading, allowed targets, invalid documents."""

import json
import os
import pickle
from http.server import BaseHTTPRequestHandler

import fsspec
import h5py
import numpy as np
import pytest
import xarray as xr
import zarr
import zarr_core
from fsspec.implementations.reference import LazyReferenceMapper
from kerchunk.hdf import SingleHdf5ToZarr
from loopback import serving
from object_stores import s3_options, s3_store
from waits import no_garbage_collection
from zarr_conformance.kit.store_keys import StoreKeyTests
from zarr_conformance.kit.store_values import StoreValueTests
from zarr_core.errors import MetadataError
from zarr_core.extension import (
    ByteRange,
    Store,
    StoreError,
    StoreReadError,
    StoreReadOnlyError,
    StoreTraits,
    check_key,
)
from zarr_stores.references import ReferenceStore

pytest_plugins = ["servers.fixtures"]


class Written(ReferenceStore):
    """References that are rewritten for each value, with all values in one file."""

    read_only = False
    traits = StoreTraits(supports_erasing=True)
    update = Store.update
    _require_writable = Store._require_writable

    def __init__(self, path):
        self.path = path
        self.references = {}
        path.write_bytes(b"in front of everything")
        super().__init__(self.references)

    def set(self, key, value):
        check_key(key)
        pieces = [value] if isinstance(value, bytes | bytearray | memoryview) else value
        data = b"".join(map(bytes, pieces))
        offset = self.path.stat().st_size
        with open(self.path, "ab") as file:
            file.write(data + b"between")
        self.references[key] = [str(self.path), offset, len(data)]
        super().__init__(self.references)

    def erase(self, key):
        self.references.pop(check_key(key), None)
        super().__init__(self.references)


class TestReading(StoreValueTests, StoreKeyTests):
    """The read tests of stores, with parts of a file."""

    examples = 10

    def make(self, tmp_path):
        return Written(tmp_path / "data.bin")

    def again(self, store, *, read_only):
        return ReferenceStore(store.references)

    test_set_values = None
    test_set_partial_values = None
    test_unencodable_key_works_or_raises = None  # the file with the values is not a key


# --- other programs ---


@pytest.fixture
def hdf5(tmp_path):
    """A file with arrays in all layouts."""
    path = tmp_path / "source.h5"
    values = np.arange(600).reshape(30, 20)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(7, 6), compression="gzip", shuffle=True)
        file.create_dataset("g/y", data=np.arange(10, dtype=">f4"))
        file.create_dataset("part", (40,), "i2", chunks=(10,), fillvalue=-1)[:15] = 5
        file["scalar"] = 3.5
        file.attrs["title"] = "a file"
    return path


def translated(hdf5, **options):
    with no_garbage_collection():
        return SingleHdf5ToZarr(str(hdf5), **{"inline_threshold": 0} | options).translate()


def check_same(group, hdf5, root):
    """Check that the values equal those of h5py, and of zarr-python with fsspec."""
    with h5py.File(hdf5) as file:
        assert group.attrs["title"] == "a file"
        assert [path for path, _ in group.members(max_depth=None)] == [
            "g", "g/y", "part", "scalar", "x",
        ]  # fmt: skip
        for path in ("g/y", "part", "scalar", "x"):
            assert np.array_equal(group[path][...], file[path][()]), path
            if root is not None:
                assert np.array_equal(group[path][...], root[path][...]), path
        assert np.array_equal(group["x"][3:9, ::4], file["x"][3:9, ::4])


def through_fsspec(fo, **options):
    fs = fsspec.filesystem(
        "reference", fo=fo, asynchronous=True, skip_instance_cache=True, **options
    )
    return zarr.open_group(zarr.storage.FsspecStore(fs, read_only=True, path=""), mode="r")


def test_asynchronous_file_systems_of_references(tmp_path):
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

    (tmp_path / "values").write_bytes(b"abcd")
    fo = {"x": [f"file://{tmp_path}/values", 1, 2]}
    local = AsyncFileSystemWrapper(fsspec.filesystem("file"), asynchronous=True)
    for options in (
        {"fs": local},
        {"fs": {"file": local}},
        {"remote_protocol": "file", "remote_options": {"asynchronous": True}},
    ):
        fs = fsspec.filesystem(
            "reference", fo=fo, asynchronous=True, skip_instance_cache=True, **options
        )
        store, _ = zarr_core.resolve_store_path(fs.get_mapper(""), read_only=True)
        assert bytes(store.get("x")) == b"bc"


@pytest.mark.filterwarnings("ignore::ImportWarning", "ignore:.*asynchronous=False")
def test_json_of_kerchunk(hdf5, tmp_path):
    document = translated(hdf5)
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(document))
    root = through_fsspec(document, remote_protocol="file", remote_options={"asynchronous": True})
    for place, options in (
        (path, {}),
        (f"reference::{path}", {}),
        (f"reference://{path}", {}),
        (f"reference+file://{path}", {}),
        ("reference://", {"fo": document, "remote_protocol": "file", "lazy": True}),
        ("reference://", {"fo": str(path)}),
    ):
        group = zarr_core.open(place, mode="r", storage_options=options)
        assert type(group.store) is ReferenceStore
        assert group.store.max_concurrency is None
        check_same(group, hdf5, root)
        check_same(pickle.loads(pickle.dumps(group)), hdf5, None)
    inline = translated(hdf5) | {"refs": translated(hdf5, inline_threshold=500)["refs"]}
    check_same(zarr_core.open(ReferenceStore(inline)), hdf5, root)
    check_same(zarr_core.open(ReferenceStore(inline["refs"])), hdf5, root)  # version 0


def test_relative_targets_are_relative_to_the_document(hdf5, tmp_path, monkeypatch):
    document = json.dumps(translated(hdf5)).replace(str(hdf5), "../source.h5")
    (tmp_path / "refs").mkdir()
    (tmp_path / "refs" / "a.json").write_text(document)
    check_same(zarr_core.open(tmp_path / "refs" / "a.json"), hdf5, None)
    monkeypatch.chdir(tmp_path / "refs")
    check_same(zarr_core.open(ReferenceStore(json.loads(document))), hdf5, None)
    monkeypatch.chdir("/")
    store = ReferenceStore(json.loads(document), root=str(tmp_path / "refs"))
    check_same(zarr_core.open(store), hdf5, None)


def write_parquet(references, path, record_size):
    mapper = LazyReferenceMapper.create(
        str(path), fs=fsspec.filesystem("file"), record_size=record_size, engine="pyarrow"
    )
    metadata_first = sorted(references, key=lambda key: not key.rpartition("/")[2].startswith(".z"))
    for key in metadata_first:
        mapper[key] = references[key]
    mapper.flush()


@pytest.mark.parametrize("record_size", [4, 1000])
def test_parquet_of_kerchunk(hdf5, tmp_path, record_size):
    references = translated(hdf5)["refs"]
    references["part/1"] = b"\5\0" * 5 + b"\xff\xff" * 5  # within the records
    write_parquet(references, tmp_path / "refs.parq", record_size)
    for place in (f"reference::{tmp_path}/refs.parq", f"reference://{tmp_path}/refs.parq"):
        group = zarr_core.open(place, mode="r")
        check_same(group, hdf5, None)
        assert set(group.store.list()) == {*references, ".zmetadata"}
        assert group.store.list_dir("x/")[0][:2] == ["x/.zarray", "x/.zattrs"]
        assert {"part/0", "part/1"} < set(group.store.list_dir("part/")[0])
        assert group.store.get("x/4.9") is None
        assert group.store.get("x/00.0") is None
    # Only existing files are read, independent of the number of chunks in the metadata.
    metadata = json.loads((tmp_path / "refs.parq" / ".zmetadata").read_bytes())
    metadata["metadata"]["x/.zarray"]["shape"] = [10**15, 20]
    (tmp_path / "refs.parq" / ".zmetadata").write_text(json.dumps(metadata))
    assert len([*ReferenceStore(tmp_path / "refs.parq").list_prefix("x/")]) == 22
    with pytest.raises(StoreError, match=r"\.zmetadata is missing"):
        zarr_core.open(f"reference::{tmp_path}/none.parq")


@pytest.mark.filterwarnings(
    "ignore:Numcodecs codecs"
)  # a separate environment with an older zarr-python
def test_virtualizarr(tmp_path):
    virtualizarr = pytest.importorskip("virtualizarr")
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser

    values = np.arange(600).reshape(30, 20)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(7, 6), compression="gzip", shuffle=True)
        file["scalar"] = 3.5
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    dataset = virtualizarr.open_virtual_dataset(
        f"file://{tmp_path}/a.h5", registry=registry, parser=HDFParser()
    )
    accessor = dataset.vz if hasattr(type(dataset), "vz") else dataset.virtualize
    accessor.to_kerchunk(str(tmp_path / "v.json"), format="json")
    group = zarr_core.open(tmp_path / "v.json")
    assert np.array_equal(group["x"][...], values)
    assert group["scalar"][...] == 3.5


def test_xarray_reads_through_references(tmp_path):
    path = tmp_path / "a.nc"
    dataset = xr.Dataset(
        {"t": (("time", "x"), np.arange(12.0).reshape(3, 4), {"units": "K"})},
        {"time": np.array(["2001-01-01", "2001-01-02", "2001-01-03"], "M8[ns]"), "x": [1, 2, 3, 4]},
    )
    dataset.to_netcdf(path, engine="h5netcdf", encoding={"t": {"zlib": True, "chunksizes": (1, 4)}})
    (tmp_path / "refs.json").write_text(json.dumps(translated(path)))
    with (
        xr.open_dataset(path, engine="h5netcdf") as there,
        xr.open_dataset(tmp_path / "refs.json", engine="zarr_core") as here,
    ):
        xr.testing.assert_identical(there, here)


# --- remote references ---


def test_documents_and_targets_on_a_server(hdf5, http_server, tmp_path):
    (http_server.root / "data").mkdir(exist_ok=True)
    (http_server.root / "data" / "a b.h5").write_bytes(hdf5.read_bytes())
    url = f"{http_server.url}/data"
    here = translated(hdf5)
    document = json.dumps(here).replace(str(hdf5), f"{url}/a%20b.h5")
    store = ReferenceStore(json.loads(document))
    assert store.max_concurrency == 64
    check_same(zarr_core.open(store), hdf5, None)
    (http_server.root / "data" / "refs.json").write_text(document.replace(f"{url}/", ""))
    there = zarr_core.open(f"reference+{url}/refs.json", mode="r")
    check_same(there, hdf5, None)
    check_same(pickle.loads(pickle.dumps(there)), hdf5, None)
    # A remote document cannot refer to local files, unless they are allowed.
    for name in (str(hdf5), f"file://{hdf5}", f"local://{hdf5}"):
        (http_server.root / "data" / "evil.json").write_text(
            json.dumps(here).replace(str(hdf5), name)
        )
        evil = zarr_core.open(f"reference+{url}/evil.json", mode="r")
        with pytest.raises(StoreReadError, match="the references are remote"):
            evil["x"][...]
        allowed = ReferenceStore(f"{url}/evil.json", allow=[str(hdf5.parent)])
        check_same(zarr_core.open(allowed), hdf5, None)
    with pytest.raises(StoreError, match="do not exist"):
        zarr_core.open(f"reference+{url}/none.json", mode="r")


def test_targets_in_a_bucket(hdf5, s3_server, tmp_path):
    bucket = s3_store(s3_server)
    bucket.set("source.h5", hdf5.read_bytes())
    document = json.loads(
        json.dumps(translated(hdf5)).replace(str(hdf5), f"{bucket.url}/source.h5")
    )
    bucket.set("refs.json", json.dumps(document).encode())
    options = s3_options(s3_server)
    check_same(zarr_core.open(ReferenceStore(document, remote_options=options)), hdf5, None)
    store = ReferenceStore(
        f"{bucket.url}/refs.json", remote_options=options, target_options=options
    )
    check_same(zarr_core.open(store), hdf5, None)
    write_parquet(document["refs"], tmp_path / "refs.parq", 1000)
    for file in (tmp_path / "refs.parq").rglob("*"):
        if file.is_file():
            bucket.set(str(file.relative_to(tmp_path)), file.read_bytes())
    records = ReferenceStore(
        f"{bucket.url}/refs.parq", remote_options=options, target_options=options
    )
    check_same(zarr_core.open(records), hdf5, None)
    with pytest.raises(StoreError, match="credentials.*secret_access_key"):
        pickle.dumps(store)
    fsspec_options = {
        "key": s3_server.access_key, "secret": s3_server.secret_key,
        "client_kwargs": {"endpoint_url": s3_server.url, "region_name": s3_server.region},
    }  # fmt: skip
    through = {"fo": document, "remote_protocol": "s3", "remote_options": fsspec_options}
    group = zarr_core.open("reference://", mode="r", storage_options=through)
    check_same(group, hdf5, None)


# --- documents ---


def test_templates_and_generators(tmp_path):
    """The example of the specification, and more."""
    for number in range(5):
        (tmp_path / f"part_{number}").write_bytes(bytes(range(50)))
    document = {
        "version": 1,
        "templates": {"u": str(tmp_path), "f": "{{c}}", "named": "{{u}}"},
        "gen": [
            {
                "key": "gen/{{i}}.{{ j }}", "url": "{{u}}/part_{{i}}",
                "offset": "{{(i + 1) * 2 + j}}", "length": "{{ 7 // 2 }}",
                "dimensions": {"i": {"stop": 4, "start": 1}, "j": [0, 10]},
            },
            {"key": "whole_{{'%02d' % i}}", "url": "{{u}}/part_{{i}}", "dimensions": {"i": [2]}},
        ],
        "refs": {
            "text": "data", "base": "base64:AAEC", "object": {"a": 1},
            "part": ["{{u}}/part_0", 10, 5],
            "called": ["{{f(c='" + str(tmp_path) + "')}}/part_1", 0, 1],
            "whole": ["{{ u }}/part_{{ 1 }}"],
        },
    }  # fmt: skip
    store = ReferenceStore(document)
    assert store.get("text") == b"data"
    assert store.get("base") == b"\0\1\2"
    assert store.get("object") == b'{"a":1}' or json.loads(store.get("object")) == {"a": 1}
    assert bytes(store.get("part")) == bytes(range(10, 15))
    assert bytes(store.get("whole")) == bytes(range(50))
    assert bytes(store.get("gen/3.10")) == bytes(range(18, 21))
    assert store.getsize("whole_02") == 50
    assert len([*store.list_prefix("gen/")]) == 6
    assert store.list_dir("")[1] == ["gen/"]
    other = ReferenceStore(document, templates={"u": str(tmp_path / "elsewhere")})
    with pytest.raises(StoreReadError, match=r"'part'.*elsewhere/part_0', which .*does not exist"):
        other.get("part")


GOOD = {"key": "{{i}}", "url": "u", "dimensions": {"i": [1]}}


def generator(members, **others):
    """A document with two generators, of which the second is the one with the members."""
    return {
        "version": 1,
        "gen": [GOOD, {**members, **others} if isinstance(members, dict) else members],
    }


WRONG = {
    "no object": ([1], "must be an object"),
    "version": ({"version": 2, "refs": {}}, "is not supported"),
    "list": ({"a": [1, 2]}, r"/a.*\[url, offset, length\]"),
    "negative": ({"a": ["x", -1, 5]}, "/a: offset must be a number of bytes, not -1"),
    "length": ({"a": ["x", 0, -5]}, "/a: length must be a number of bytes, not -5"),
    "huge": ({"a": ["x", 2**64, 5]}, "/a: offset"),
    "fraction": ({"a": ["x", 1.5, 5]}, "/a: offset must be a number of bytes, not 1.5"),
    "base64": ({"a": "base64:!"}, "/a: "),
    "number": ({"a": 5}, "/a: must be"),
    "code": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{().__class__}}"]}}, "is not supported"),
    "import": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{__import__('os')}}"]}}, "is not supported"),
    "statement": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{% for %}"]}}, "statements"),
    "unknown": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{w}}"]}}, "unknown template 'w'"),
    "large": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{" + "9999999999*" * 9 + "9}}"]}}, "too large"),
    "format": ({"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{'%999999d' % 5}}"]}}, "incompatible types"),
    "many": (
        {"version": 1, "gen": [{"key": "{{i}}", "url": "u", "dimensions": {"i": {"stop": 10**12}}}]},
        "/gen/0: generates more than",
    ),
    "one": (generator(GOOD, offset="1"), "/gen/1: .*given together"),
    "generator": (generator(5), "/gen/1: must be an object"),
    "no key": (generator({"url": "u", "dimensions": {}}), "/gen/1: .*no 'key'"),
    "nothing": (generator({}), "no 'key' and no 'url' and no 'dimensions'"),
    "key": (generator(GOOD, key=5), "/gen/1: key must be a string, not 5"),
    "url": (generator(GOOD, url=None), "/gen/1: url must be a string, not None"),
    "dimensions": (generator(GOOD, dimensions=[1]), r"/gen/1: dimensions must be an object, not \[1\]"),
    "dimension": (generator(GOOD, dimensions={"i": 5}), "dimension 'i' must be a list .* not 5"),
    "no stop": (generator(GOOD, dimensions={"i": {"start": 1}}), "dimension 'i' must .* 'stop'"),
    "step": (generator(GOOD, dimensions={"i": {"stop": 3, "step": 0}}), "step .* 'i' must not be 0"),
    "text": (generator(GOOD, offset="x", length=1), "/gen/1: offset 'x' is not an integer"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_invalid_documents(name, tmp_path):
    document, message = WRONG[name]
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(document))
    with pytest.raises((MetadataError, StoreError), match=message) as caught:
        ReferenceStore(path)
    assert "Error(" not in str(caught.value)


def test_missing_targets_are_not_missing_chunks(tmp_path):
    (tmp_path / "short").write_bytes(b"0123456789")
    store = ReferenceStore(
        {
            "gone": ["none.bin", 0, 5], "short": ["short", 5, 6], "big": ["short", 2**62, 5],
            "folder": [".."], "void": [None, 0, 2], "chain": ["simplecache::file:///etc/passwd"],
            "strange": ["nope://x/y"], "query": ["https://host/a?b=1", 0, 1], "host": ["https://host"],
            "circle": ["reference://x/a.json"], "up": ["s3://bucket/a/../../b"],
            "half": ["x\ud800", 0, 5],
        },
        root=str(tmp_path),
    )  # fmt: skip
    for key, message in {
        "gone": "'gone'.*which .*does not exist", "short": "has 10 bytes", "big": "has 10 bytes",
        "folder": "directory", "void": "target=", "chain": "is not the URL", "strange": "nope", "query": "query",
        "host": "is not the URL of a file", "up": r"\. or \.\.", "circle": "must refer to files",
        "half": "half of a surrogate pair",
    }.items():  # fmt: skip
        for read in (store.get, store.open_value):
            with pytest.raises(StoreReadError, match=message):
                read(key)
    assert store.get("nobody") is None
    assert ReferenceStore({"v": [None, 1, 2]}, target=str(tmp_path / "short")).get("v") == b"12"


def test_allowed_targets(tmp_path):
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_bytes(b"data")
    os.symlink(tmp_path / "outside" / "f", tmp_path / "inside" / "link")
    references = {
        "good": ["inside/f"], "bad": ["outside/f"], "up": ["inside/../outside/f"],
        "link": ["inside/link"], "beside": [str(tmp_path / "inside2")],
        "web": ["https://host/insider/f"],
    }  # fmt: skip
    everything = ReferenceStore(references, root=str(tmp_path))
    assert everything.get("link") == everything.get("up") == b"data"
    store = ReferenceStore(
        references, root=str(tmp_path), allow=[f"{tmp_path}/inside/", "https://host/inside"]
    )
    assert store.get("good") == b"data"
    for key in ("bad", "up", "link", "beside", "web"):
        with pytest.raises(StoreReadError, match="not allowed by allow="):
            store.get(key)


def test_parts_of_values(tmp_path):
    (tmp_path / "f").write_bytes(bytes(range(100)))
    store = ReferenceStore({"a": ["f", 10, 10], "b": ["f", 50, 20], "c": "xyz"}, root=str(tmp_path))
    found = store.get_partial_values([
        ("a", ByteRange(2, 3)), ("b", ByteRange(-5)), ("c", ByteRange(1)), ("d", ByteRange(0)),
        ("b", ByteRange(18, 99)),
    ])  # fmt: skip
    assert [None if part is None else bytes(part) for part in found] == [
        bytes([12, 13, 14]), bytes(range(65, 70)), b"yz", None, bytes([68, 69]),
    ]  # fmt: skip


def test_the_store_is_read_only(tmp_path):
    store = ReferenceStore({"a": "b"})
    for change in (
        lambda: store.set("a", b""), lambda: store.erase("a"), lambda: store.erase_prefix(""),
        lambda: store.update("a", lambda reader: b""), lambda: store.erase_values(["a"]),
        lambda: store.set_partial_values([("a", 0, b"x")]),
    ):  # fmt: skip
        with pytest.raises(StoreReadOnlyError):
            change()
    with pytest.raises(StoreError, match="unknown option: colour"):
        zarr_core.open("reference://", mode="r", storage_options={"fo": {}, "colour": 1})
    with pytest.raises(StoreError, match="no references"):
        zarr_core.open("reference://", mode="r")
    assert store == ReferenceStore({"a": "b"}) != ReferenceStore({"a": "c"})
    with pytest.raises(
        StoreError, match=r"reference\+https://"
    ):  # fsspec does not check the origin
        zarr_core.open("reference::https://host/refs.json", mode="r")
    made = zarr_core.create_group(tmp_path / "new.json")  # a name like any other
    assert type(made.store).__name__ == "LocalStore"


@pytest.fixture
def two_servers():
    """The ports of a server that redirects to a second one, and what both received."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            received.append((self.server.server_port, self.headers.get("X-Key")))
            away = self.path == "/away"
            self.send_response(307 if away else 200)
            if away:
                self.send_header("Location", f"http://127.0.0.1:{second.server_port}/secret")
            self.send_header("Content-Length", "0" if away else "6")
            self.end_headers()
            if not away and self.command == "GET":
                self.wfile.write(b"secret")

    with serving(Handler) as first, serving(Handler) as second:
        yield first.server_port, second.server_port, received


@pytest.mark.parametrize("part", [(), (1, 3)])
def test_redirects_to_servers_that_are_not_allowed(two_servers, part):
    pytest.importorskip("aiohttp")
    first, second, received = two_servers
    url = f"http://127.0.0.1:{first}"
    store = ReferenceStore({"a": [f"{url}/away", *part], "b": [f"{url}/here", *part]}, allow=[url])
    with pytest.raises(StoreReadError, match="redirects to"):
        store.get("a")
    assert bytes(store.get("b")) == (b"ecr" if part else b"secret")
    assert second not in {port for port, _ in received}


def test_headers_for_servers_that_are_not_allowed(two_servers):
    pytest.importorskip("aiohttp")
    first, second, received = two_servers
    here, there = f"http://127.0.0.1:{first}", f"http://127.0.0.1:{second}"
    references = {"a": [f"{here}/x"], "b": [f"{there}/x"]}
    options = {"client_options": {"default_headers": {"X-Key": "k"}, "allow_http": True}}
    store = ReferenceStore(references, remote_options=options)
    for key in references:
        with pytest.raises(
            StoreReadError, match="pass the servers that may receive them in allow="
        ):
            store.get(key)
    assert not received
    store = ReferenceStore(references, remote_options=options, allow=[here])
    assert bytes(store.get("a")) == b"secret"
    with pytest.raises(StoreReadError, match="not allowed by allow="):
        store.get("b")
    assert {*received} == {(first, "k")}


def test_parquet_with_more_rows_than_the_records(hdf5, tmp_path):
    write_parquet(translated(hdf5)["refs"], tmp_path / "refs.parq", 1000)
    path = tmp_path / "refs.parq" / ".zmetadata"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"record_size": 3}))
    group = zarr_core.open(f"reference::{tmp_path}/refs.parq", mode="r")
    with pytest.raises(StoreError, match=r"references, but record_size is 3"):
        group["x"][...]
