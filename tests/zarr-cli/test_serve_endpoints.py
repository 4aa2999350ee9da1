"""The endpoints that the page uses."""

import json
import re
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlencode

import numpy as np
import pytest
import zarr_core as zarr
from unlisted_store import UnlistedStore
from zarr_cli.serve.server import StoreServer


@pytest.fixture
def store():
    return zarr.MemoryStore()


@pytest.fixture
def request_json(store):
    """Return a function that calls an endpoint; keywords are the query parameters."""
    with StoreServer(store) as server, closing(HTTPConnection(*server.address)) as client:

        def ask(name, status=200, **query):
            client.request("GET", f"/__zarr_core__/{name}?{urlencode(query)}")
            answer = client.getresponse()
            body = answer.read()
            assert answer.status == status, body
            if answer.headers["Content-Type"] != "application/json":
                return answer.headers, body
            return json.loads(body, parse_constant=lambda word: pytest.fail(word))

        yield ask


def damage(store, path, **changes):
    key = f"{path}/zarr.json"
    store.set(key, json.dumps(json.loads(bytes(store.get(key))) | changes).encode())


def test_children(store, request_json):
    root = zarr.create_group(store)
    root.create_group("b/c")
    root.create_array("a", shape=(3, 4), dtype="int16")
    root.create_array("d", shape=1)
    damage(store, "d", shape=[-1])
    assert request_json("children")["children"] == [
        {"name": "a", "kind": "array", "shape": [3, 4], "data_type": "int16"},
        {"name": "b", "kind": "group"},
        {
            "name": "d",
            "kind": "damaged",
            "reason": request_json("children")["children"][2]["reason"],
        },
    ]
    assert [child["name"] for child in request_json("children", path="b")["children"]] == ["c"]
    assert request_json("children", path="a") == {"children": [], "next": None}
    assert "no node" in request_json("children", status=404, path="nothing")["error"]
    request_json("children", status=400, path="../..")
    request_json("children", status=400, first="-1")


def test_folders(store, request_json):
    zarr.create_array(store, path="x/y/a.zarr/b", shape=1, dtype="int8")
    store.erase("zarr.json")
    for path in ("x", "x/y"):
        store.erase(f"{path}/zarr.json")
    assert request_json("node")["kind"] == "folder"
    assert request_json("children")["children"] == [{"name": "x", "kind": "folder"}]
    assert request_json("children", path="x/y")["children"] == [{"name": "a.zarr", "kind": "group"}]
    request_json("node", status=404, path="x/z")
    request_json("children", status=404, path="x/z")


def test_children_are_paginated(store, request_json):
    root = zarr.create_group(store)
    for number in range(230):
        root.create_group(f"g{number:03}")
    first = request_json("children")
    assert (len(first["children"]), first["next"]) == (200, 200)
    rest = request_json("children", first=200)
    assert [child["name"] for child in rest["children"]] == [f"g{n:03}" for n in range(200, 230)]
    assert rest["next"] is None


def test_node(store, request_json):
    zarr.create_array(
        store, path="a/b", shape=(30, 40), chunks=(5, 5), shards=(10, 20), dtype="float32",
        fill_value=np.nan, dimension_names=("y", None), attributes={"units": "m", "n": [1, None]},
    )  # fmt: skip
    node = request_json("node", path="a/b")
    assert (node["kind"], node["readable"], node["problems"]) == ("array", True, [])
    assert node["shape"] == [30, 40]
    assert (node["chunks"], node["shards"], node["grid"]) == ([5, 5], [10, 20], [3, 2])
    assert node["dimension_names"] == ["y", None]
    assert node["attributes"] == {"units": "m", "n": [1, None]}
    assert node["documents"] == ["a/b/zarr.json"]
    assert node["prefix"] == "a/b/"
    assert node["metadata"]["fill_value"] == "NaN"
    assert node["info"]["Data type"] == "float32"
    assert request_json("node")["kind"] == "group"


@pytest.mark.parametrize("zarr_format", [1, 2, "n5"])
def test_node_of_an_older_format_has_version_3_metadata(store, request_json, zarr_format):
    values = np.arange(12, dtype="int32").reshape(3, 4)
    zarr.create_array(store, path="a", data=values, chunks=(2, 2), zarr_format=zarr_format)
    node = request_json("node", path="a")
    assert node["metadata"]["data_type"] == "int32"
    assert node["metadata"]["chunk_grid"]["configuration"] == {"chunk_shape": [2, 2]}
    assert all(store.exists(key) for key in node["documents"])
    headers, body = request_json("window", path="a", selection="0:3,1:4:2")
    assert np.array_equal(np.frombuffer(body, "<i4").reshape(3, 2), values[:, 1:4:2])
    assert headers["Zarr-Shape"] == "3,2"


def test_non_finite_attributes_of_version_2(store, request_json):
    zarr.create_group(store, zarr_format=2)
    store.set(".zattrs", b'{"a": [NaN, -Infinity], "b": {"c": Infinity}}')
    assert request_json("node")["attributes"] == {"a": ["NaN", "-Infinity"], "b": {"c": "Infinity"}}


def test_problems_have_pointers(store, request_json):
    root = zarr.create_group(store)
    for name in ("schema", "codec", "configuration", "fine"):
        root.create_array(f"x/{name}", shape=(4, 4), dtype="int8", attributes={"a": 1})
    damage(store, "x/schema", shape=[4, -2], fill_value="none")
    damage(store, "x/codec", codecs=["bytes", {"name": "acme.missing"}])
    damage(
        store, "x/configuration", codecs=["bytes", {"name": "gzip", "configuration": {"level": 99}}]
    )
    store.set("x/text/zarr.json", b"{nonsense")
    for path, pointers in {
        "x/schema": ["/shape/1"],
        "x/codec": ["/codecs/1"],
        "x/configuration": ["/codecs/1/configuration/level"],
        "x/text": [""],
        "x/fine": [],
    }.items():
        problems = request_json("node", path=path)["problems"]
        assert [problem["pointer"] for problem in problems] == pointers
    node = request_json("node", path="x/codec")
    assert (node["kind"], node["readable"]) == ("array", False)
    assert node["attributes"] == {"a": 1}
    assert "acme.missing" in node["problems"][0]["message"]
    node = request_json("node", path="x/text")
    assert (node["kind"], node["documents"]) == ("damaged", ["x/text/zarr.json"])


@pytest.mark.filterwarnings("ignore:.*must_understand is false")
def test_ignored_extensions_give_remarks(store, request_json):
    zarr.create_array(store, path="a", shape=4, dtype="int8", compressors=None)
    unknown = {"name": "acme.missing", "must_understand": False}
    damage(store, "a", codecs=["bytes", unknown])
    node = request_json("node", path="a")
    assert node["readable"]
    assert "acme.missing" in node["remarks"][0]["message"]


def test_chunk_map_counts_stored_chunks(store, request_json):
    array = zarr.create_array(
        store, path="a", shape=(2, 25, 40), chunks=(1, 10, 10), dtype="int16", compressors=None
    )
    array[0, :10, :10] = 1
    array[1, :10, :10] = 1
    array[1, 20:, 30:] = 1
    found = request_json("chunk-map", path="a")
    assert (found["rows"], found["columns"], found["complete"]) == (1, 2, True)
    assert found["stored"] == [[2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert found["nbytes"] == [[400, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 200]]
    assert (found["total"], found["total_stored"]) == (24, 3)
    other = request_json("chunk-map", path="a", rows=0, columns=1)
    assert other["stored"] == [[1, 0, 0], [1, 0, 1]]
    request_json("chunk-map", status=400, path="a", rows=1, columns=1)
    request_json("chunk-map", status=400, path="a", rows=7)
    request_json("chunk-map", status=400)


def test_chunk_map_of_inner_chunks_or_shards(store, request_json):
    array = zarr.create_array(
        store, path="a", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="int8", compressors=None
    )
    array[:2, :2] = 1
    found = request_json("chunk-map", path="a")
    assert (found["unit"], found["total"], found["total_stored"]) == ("chunk", 16, 1)
    found = request_json("chunk-map", path="a", unit="shard")
    assert (found["unit"], found["total"], found["total_stored"]) == ("shard", 4, 1)


def test_chunk_map_of_a_large_grid(store, request_json):
    array = zarr.create_array(
        store, path="a", shape=(10**9, 10**9), chunks=(1000, 1000), dtype="int8", compressors=None
    )
    array[0, 0] = array[0, 999_999_999] = 1
    found = request_json("chunk-map", path="a")
    assert found["per_cell"] == [10417, 10417]
    assert (found["stored"][0][0], found["stored"][0][95], found["total_stored"]) == (1, 1, 2)


def test_chunk_map_stops_at_the_limit(store, request_json):
    zarr.create_array(store, path="a", data=np.ones(100, "int8"), chunks=1, compressors=None)
    found = request_json("chunk-map", path="a", most=10)
    assert (found["total_stored"], found["complete"], found["most"]) == (10, False, 10)
    request_json("chunk-map", status=400, path="a", most=10**9)


def test_chunk_map_of_a_store_without_listing():
    store = UnlistedStore()
    zarr.create_array(store, data=np.eye(4, dtype="int8"), chunks=2, compressors=None)
    with StoreServer(store) as server, closing(HTTPConnection(*server.address)) as client:
        client.request("GET", "/__zarr_core__/chunk-map")
        found = json.loads(client.getresponse().read())
    assert found["stored"] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64", "bfloat16"]
)
def test_windows_of_numbers_are_little_endian(store, request_json, dtype):
    values = np.arange(60).reshape(3, 4, 5) % 7
    zarr.create_array(store, path="a", shape=(3, 4, 5), chunks=(2, 3, 2), dtype=dtype)[...] = values
    headers, body = request_json("window", path="a", selection="1:2:1,0:4:3,1:5:2")
    expected = np.asarray(zarr.open(store, path="a")[1:2, 0:4:3, 1:5:2])
    if dtype in ("float16", "bfloat16"):
        expected = expected.astype("float32")
    assert headers["Zarr-Shape"] == "1,2,2"
    assert headers["Zarr-Data-Type"] == f"{expected.dtype.kind}{expected.dtype.itemsize}"
    assert body == expected.astype(expected.dtype.newbyteorder("<")).tobytes()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (np.array(["a", "<b>", "\ud7ff"], "<U3"), ["a", "<b>", "\ud7ff"]),
        (np.array(["2024-01-02", "NaT"], "datetime64[D]"), ["2024-01-02", "NaT"]),
        (np.array([(1, 2.5)], [("x", "i4"), ("y", "f8")]), ["(1, 2.5)"]),
    ],
)
def test_windows_of_other_types_are_text(store, request_json, values, texts):
    zarr.create_array(store, path="a", data=values)
    node = request_json("node", path="a")
    assert node["elements"] == "text"
    found = request_json("window", path="a", selection=f"0:{len(values)}")
    assert found == {"shape": [len(texts)], "texts": texts}


def test_window_of_a_scalar(store, request_json):
    zarr.create_array(store, path="a", data=np.array(2.5))
    headers, body = request_json("window", path="a", selection="")
    assert (headers["Zarr-Shape"], np.frombuffer(body, "<f8")[0]) == ("", 2.5)


@pytest.mark.parametrize(
    "selection",
    ["0:1,0:1,0:1", "a:b,0:1", "0:2:0,0:1", "0:1:1:1,0:1", "9,0", f"0:{'9' * 5000},0:1"],
)
def test_invalid_windows(store, request_json, selection):
    zarr.create_array(store, path="a", shape=(4, 4), dtype="int8")
    request_json("window", status=400, path="a", selection=selection)


def test_windows_that_need_too_much_memory(store, request_json):
    zarr.create_array(store, path="a", shape=(10**6, 10**6), chunks=1000, dtype="int8")
    assert (
        "the maximum is"
        in request_json("window", status=413, path="a", selection="0:9999,0:9999")["error"]
    )
    wide = request_json("window", status=413, path="a", selection="0:1000000:1000,0:1000000:1000")
    assert "GiB of chunks" in wide["error"]
    assert len(request_json("window", path="a", selection="0:1000:2,0:1000:2")[1]) == 250_000


def test_damaged_chunk_is_an_error_with_its_key(store, request_json):
    zarr.create_array(store, path="a", data=np.arange(100), chunks=10, compressors="zstd")
    store.set("a/c/3", b"nonsense")
    assert "a/c/3" in request_json("window", status=500, path="a", selection="0:100")["error"]


def test_page_loads_no_external_resources(store):
    with StoreServer(store) as server, closing(HTTPConnection(*server.address)) as client:
        waiting, seen = ["/"], {}
        while waiting:
            target = waiting.pop()
            client.request("GET", target)
            answer = client.getresponse()
            seen[target] = answer.read().decode()
            assert answer.status == 200, target
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            named = re.findall(r'(?:src|href)="(__[^"]+)"|from "\./([^"]+)"', seen[target])
            found = [f"/{one or '__zarr_core__/' + other}" for one, other in named]
            waiting += [name for name in found if name not in seen and name not in waiting]
    assert len(seen) > 20
    for target, text in seen.items():
        assert set(re.findall(r"https?://[^\"' )]+", text)) <= {"http://www.w3.org/2000/svg"}, (
            target
        )
        assert "innerHTML" not in text
        assert text.count("\n") <= 600


def test_nodes_known_only_from_consolidated_metadata():
    values = {}
    zarr.create_array(values, path="a/b", data=np.arange(4), chunks=2)
    zarr.consolidate_metadata(values)
    del values["a/zarr.json"], values["a/b/zarr.json"]
    with (
        StoreServer(UnlistedStore(values)) as server,
        closing(HTTPConnection(*server.address)) as client,
    ):

        def ask(question):
            client.request("GET", f"/__zarr_core__/{question}")
            return client.getresponse().read()

        assert json.loads(ask("children?path=a"))["children"][0]["name"] == "b"
        node = json.loads(ask("node?path=a/b"))
        assert (node["kind"], node["readable"], node["prefix"]) == ("array", True, None)
        assert ask("window?path=a/b&selection=1:3") == np.array([1, 2], "<i8").tobytes()
