"""The HTTP server over real sockets, with several stores."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest
import zarr_core as zarr
from servers.ports import free_port
from waits import PATIENCE, eventually
from zarr_cli.serve.server import StoreServer

VALUE = bytes(range(256)) * 40


@pytest.fixture(scope="module", params=["local", "memory", "zip", "sqlite"])
def store(request, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("served")
    location = {
        "local": str(tmp_path / "a.zarr"),
        "memory": None,
        "zip": str(tmp_path / "a.zip"),
        "sqlite": f"sqlite://{tmp_path / 'a.sqlite'}",
    }[request.param]
    with zarr.resolve_store_path(location)[0] as store:
        store.set("a/c/0", VALUE)
        store.set("a/zarr.json", b'{"zarr_format": 3}')
        store.set("empty", b"")
        yield store


@pytest.fixture(scope="module")
def server(store):
    with StoreServer(store) as server:
        yield server


@pytest.fixture(scope="module")
def memory_server():
    store = zarr.MemoryStore()
    store.set("a/c/0", VALUE)
    with StoreServer(store) as server:
        yield server


def ask(server, target, method="GET", headers=None, body=None):
    with closing(http.client.HTTPConnection(*server.address, timeout=PATIENCE)) as client:
        client.request(method, target, body=body, headers=headers or {})
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()


def raw(server, data):
    """Send bytes and return everything until the server closes the connection."""
    with socket.create_connection(server.address, timeout=PATIENCE) as client:
        client.sendall(data)
        received = b""
        while piece := client.recv(1 << 16):
            received += piece
        return received


@pytest.mark.parametrize(
    ("header", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        ("bytes=10000-", 10000, 10240),
        ("bytes=10000-99999999", 10000, 10240),
        ("bytes=-16", 10224, 10240),
        ("bytes=-99999", 0, 10240),
        ("Bytes=5-6", 5, 7),
    ],
)
def test_range(server, header, start, stop):
    status, headers, body = ask(server, "/a/c/0", headers={"Range": header})
    assert status == 206
    assert body == VALUE[start:stop]
    assert headers["Content-Range"] == f"bytes {start}-{stop - 1}/10240"
    assert headers["Content-Length"] == str(stop - start)


@pytest.mark.parametrize(
    "header",
    [
        "bytes=10240-",
        "bytes=-0",
        "bytes=9-3",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=1-2-3",
        "bytes=--5",
        "bytes=٣-٤".encode().decode("latin-1"),
        "bytes=" + "9" * 40 + "-",
    ],
)
def test_unsatisfiable_range(memory_server, header):
    status, headers, _ = ask(memory_server, "/a/c/0", headers={"Range": header})
    assert status == 416
    assert headers["Content-Range"] == "bytes */10240"


@pytest.mark.parametrize("header", ["lines=1-2", "bytes=0-1,5-6", "nonsense"])
def test_ignored_ranges_return_the_whole_value(memory_server, header):
    status, _, body = ask(memory_server, "/a/c/0", headers={"Range": header})
    assert (status, body) == (200, VALUE)


def test_content_type_length_and_head(server):
    status, headers, body = ask(server, "/a/zarr.json")
    assert (status, body) == (200, b'{"zarr_format": 3}')
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, headers, body = ask(server, "/a/c/0", "HEAD", {"Range": "bytes=0-3"})
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == "10240"
    assert headers["Content-Type"] == "application/octet-stream"
    assert ask(server, "/empty")[2] == b""
    assert ask(server, "/empty", headers={"Range": "bytes=0-"})[0] == 416
    assert ask(server, "/a")[0] == ask(server, "/nothing")[0] == 404


def test_conditional_requests(server, store):
    store.set("b/c/0", VALUE)
    _, headers, _ = ask(server, "/b/c/0")
    tag = headers["ETag"]
    assert tag.startswith('"')
    for known in (tag, f'"other", W/{tag}', "*"):
        status, headers, body = ask(server, "/b/c/0", headers={"If-None-Match": known})
        assert (status, body, headers["ETag"]) == (304, b"", tag)
    assert ask(server, "/b/c/0", headers={"If-Match": tag})[0] == 200
    part = {"Range": "bytes=0-3"}
    assert ask(server, "/b/c/0", headers={**part, "If-Range": tag})[0] == 206
    time.sleep(0.02)  # stores with versions from modification times need a later time
    store.set("b/c/0", VALUE[::-1])
    status, headers, body = ask(server, "/b/c/0", headers={"If-None-Match": tag})
    assert (status, body) == (200, VALUE[::-1])
    assert headers["ETag"] != tag
    status, _, body = ask(server, "/b/c/0", headers={**part, "If-Range": tag})
    assert (status, body) == (200, VALUE[::-1])
    assert ask(server, "/b/c/0", headers={"If-Match": tag})[0] == 412


@pytest.mark.parametrize(
    "target",
    [
        "/../a",
        "/a/%2e%2e/b",
        "/a/..%2f..%2fb",
        "/a//c",
        "//a",
        "/a/",
        "/a%5cc",
        "/a%00",
        "/%ff",
        "/./a",
    ],
)
def test_invalid_keys(server, target):
    status, _, body = ask(server, target)
    assert status in (400, 404)
    assert "error" in json.loads(body)


def test_keys_are_percent_decoded(memory_server):
    memory_server.store.set("größe ?#%/c", b"x")
    assert ask(memory_server, "/gr%C3%B6%C3%9Fe%20%3F%23%25/c")[2] == b"x"


@pytest.mark.parametrize("replaced", ["a/c", "a"])
def test_a_served_directory_that_is_replaced_by_a_link_is_not_followed(tmp_path, replaced):
    store = zarr.LocalStore(tmp_path / "store")
    store.set("a/c/0", VALUE)
    outside = tmp_path / "outside"
    inner = outside / "a/c/0".removeprefix(replaced + "/")
    inner.parent.mkdir(parents=True)
    inner.write_bytes(b"secret")
    with StoreServer(store) as server:
        assert ask(server, "/a/c/0")[2] == VALUE
        (tmp_path / "store" / replaced).rename(tmp_path / "away")
        (tmp_path / "store" / replaced).symlink_to(outside)
        status, _, body = ask(server, "/a/c/0")
    assert status == 403
    assert b"secret" not in body


def test_lines_of_the_log_cannot_be_forged():
    store = zarr.MemoryStore()
    store.set("k\n200 forged", b"v")
    lines = []
    with StoreServer(store, log=lines.append) as server:
        ask(server, "/k%0A200%20forged%1B%5B2J")
        raw(server, b"GET /\x1b[2J\r HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert lines
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "TRACE", "BREW"])
def test_writing_methods_are_rejected(memory_server, method):
    body = None if method == "TRACE" else b"x" * 500_000
    status, headers, _ = ask(memory_server, "/a/c/0", method, body=body)
    assert status == 405
    assert {*headers["Allow"].split(", ")} == {"GET", "HEAD"}
    assert ask(memory_server, "/a/c/0")[2] == VALUE


@pytest.mark.parametrize(
    "head",
    [
        b"Host: evil.example\r\n",
        b"Host: localhost\r\nHost: localhost\r\n",
        b"Host: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n",
        b"Host: localhost\r\nContent-Length : 5\r\n",
        b"X: a\r\n",
    ],
)
def test_ambiguous_and_foreign_requests_are_rejected(memory_server, head):
    head = b"GET /a/c/0 HTTP/1.1\r\nConnection: close\r\n" + head + b"\r\n"
    assert raw(memory_server, head).startswith(b"HTTP/1.1 400 ")
    assert ask(memory_server, "/a/c/0")[2] == VALUE


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:80"])
def test_names_of_the_loopback_interface_are_accepted(memory_server, host):
    assert ask(memory_server, "/a/c/0", headers={"Host": host})[0] == 200


def test_keep_alive(memory_server):
    with closing(http.client.HTTPConnection(*memory_server.address)) as client:
        for _ in range(20):
            client.request("GET", "/a/c/0", headers={"Range": "bytes=0-3"})
            assert client.getresponse().read() == VALUE[:4]
        client.request("GET", "/nothing")
        assert client.getresponse().read()
        client.request("GET", "/a/c/0")
        assert client.getresponse().read() == VALUE


def test_close_disconnects_and_frees_the_port():
    # A port outside the ephemeral range, because it is used twice.
    server = eventually(lambda: StoreServer(zarr.MemoryStore(), port=free_port()), OSError)
    with server:
        client = http.client.HTTPConnection(*server.address, timeout=PATIENCE)
        client.request("GET", "/a")
        client.getresponse().read()
    with closing(client):
        assert client.sock.recv(10) == b""
    with StoreServer(zarr.MemoryStore(), port=server.address[1]) as again:
        assert again.url == server.url
    with pytest.raises(OSError, match="in use"), StoreServer(zarr.MemoryStore()) as first:
        StoreServer(zarr.MemoryStore(), port=first.address[1])


def test_cors():
    store = zarr.MemoryStore({"a": b"x"})
    origin = {"Origin": "https://viewer.example", "Range": "bytes=0-"}
    with StoreServer(store) as server:
        headers = ask(server, "/a", headers=origin)[1]
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    with StoreServer(store, cors=["https://viewer.example"]) as server:
        status, headers, _ = ask(server, "/a", headers=origin)
        assert status == 206
        assert headers["Access-Control-Allow-Origin"] == "https://viewer.example"
        assert "Content-Range" in headers["Access-Control-Expose-Headers"]
        assert (
            "Access-Control-Allow-Origin"
            not in ask(server, "/a", headers={"Origin": "https://evil.example"})[1]
        )
        preflight = {**origin, "Access-Control-Request-Method": "GET"}
        status, headers, _ = ask(server, "/a", "OPTIONS", preflight)
        assert status == 200
        assert "Range" in headers["Access-Control-Allow-Headers"]
    with StoreServer(store, cors=["*"]) as server:
        assert ask(server, "/a", headers=origin)[1]["Access-Control-Allow-Origin"] == "*"


def test_keys_above_the_path_are_not_served():
    store = zarr.MemoryStore({"secret": b"x", "a/b/zarr.json": b"{}"})
    with StoreServer(store, "a/b") as server:
        assert ask(server, "/zarr.json")[2] == b"{}"
        for target in ("/secret", "/../../secret", "/..%2f..%2fsecret", "/a/b/zarr.json"):
            assert ask(server, target)[0] in (400, 404)


def test_store_errors_and_truncated_values(tmp_path):
    class Failing(zarr.MemoryStore):
        def open_value(self, key, first=None):
            reader = super().open_value(key, first)
            if key == "broken":
                raise zarr_error("the disk is on fire")

            def read(start, length):
                raise zarr_error("the disk is on fire")

            if key == "half":
                whole = reader.read
                reader = Reader(reader, lambda at, n: whole(at, n) if at == 0 else read(at, n))
            return reader

    from zarr_core.extension import StoreReadError as zarr_error
    from zarr_core.interfaces.byte_reader import WrapperReader

    class Reader(WrapperReader):
        def __init__(self, inner, read):
            super().__init__(inner)
            self.read = read
            self.generation = "1"

    store = Failing({"broken": b"x", "half": bytes(3_000_000)})
    with StoreServer(store) as server:
        status, _, body = ask(server, "/broken")
        assert status == 500
        assert "on fire" in json.loads(body)["error"]
        with pytest.raises(http.client.IncompleteRead):
            ask(server, "/half")


def test_arrays_open_over_http(tmp_path):
    group = zarr.create_group(str(tmp_path / "g.zarr"))
    values = np.arange(60 * 80, dtype="float32").reshape(60, 80)
    group.create_array("a", data=values, chunks=(10, 10), shards=(30, 40), compressors=["gzip"])
    zarr.consolidate_metadata(group)
    lines = []
    with StoreServer(
        zarr.LocalStore(tmp_path / "g.zarr", read_only=True), log=lines.append
    ) as server:
        ours = zarr.open(server.url, "r")
        assert sorted(ours) == ["a"]
        assert np.array_equal(ours["a"][5:55:3, 7], values[5:55:3, 7])
        assert any(line.startswith("206 ") for line in lines)
        try:
            import tensorstore
        except ImportError:
            return
        spec = {
            "driver": "zarr3",
            "kvstore": {"driver": "http", "base_url": server.url, "path": "a/"},
        }
        theirs = tensorstore.open(spec, read=True).result()
        assert np.array_equal(theirs[5:55].read().result(), values[5:55])


def test_zarr_python_opens_arrays_over_http(tmp_path):
    fsspec_http = pytest.importorskip("fsspec.implementations.http")
    zarr_python = pytest.importorskip("zarr")
    pytest.importorskip("aiohttp")
    assert fsspec_http
    values = np.arange(48, dtype="int16").reshape(6, 8)
    zarr.create_array(str(tmp_path / "a"), data=values, chunks=(3, 4), compressors="gzip")
    with StoreServer(zarr.LocalStore(tmp_path / "a", read_only=True)) as server:
        theirs = zarr_python.open_array(server.url.rstrip("/"), mode="r")
        assert np.array_equal(theirs[:], values)


def test_command_serves_until_interrupted(tmp_path):
    zarr.create_array(str(tmp_path / "g.zarr"), path="a/b", data=np.arange(4))
    words = [sys.executable, "-m", "zarr_cli", "serve", f"{tmp_path / 'g.zarr'}#a", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        assert line.startswith(f"Serving file://{tmp_path}/g.zarr#a at ")
        url = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert np.array_equal(zarr.open(url, "r", path="b")[:], np.arange(4))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_port_in_use(command, tmp_path):
    zarr.create_group(str(tmp_path / "g.zarr"))
    with StoreServer(zarr.MemoryStore()) as server:
        port = server.address[1]
        assert "--port" in command("serve", tmp_path / "g.zarr", "--port", port, status=1)
    assert "no Zarr array or group here" in command("serve", tmp_path / "typo.zarr", status=1)


def test_remote_stores_get_one_request_per_value():
    lines = []
    with (
        StoreServer(zarr.MemoryStore({"a/c/0": VALUE}), log=lines.append) as near,
        zarr.resolve_store_path(near.url, read_only=True)[0] as far,
        StoreServer(far) as server,
    ):
        status, headers, body = ask(server, "/a/c/0")
        assert (status, body) == (200, VALUE)
        assert ask(server, "/a/c/0", headers={"Range": "bytes=-5"})[2] == VALUE[-5:]
        assert ask(server, "/a/c/0", headers={"If-None-Match": headers["ETag"]})[0] == 304
        assert ask(server, "/nothing")[0] == 404
    assert len(lines) == 4, lines


def test_errors_do_not_contain_the_store_location(tmp_path):
    location, outside = tmp_path / "secret location" / "a.zarr", tmp_path / "outside"
    outside.mkdir()
    (outside / "value").write_bytes(b"x")
    zarr.create_array(location, data=[1, 2])
    store = zarr.LocalStore(location)
    (location / "link").symlink_to(outside / "value")
    (location / "directory").symlink_to(outside)
    (location / "loop").symlink_to("loop")
    store.set("damaged/zarr.json", b'{"zarr_format": 3')
    log = []
    with StoreServer(store, log=log.append) as server:
        for target, status in (
            ("/link", 403),
            ("/directory/value", 403),
            ("/loop", 403),
            ("/" + "x" * 300, 414),
            ("/" + "x/" * 3000 + "x", 414),
            ("/" + "x" * 60_000, 414),
            ("/nothing", 404),
            ("/__zarr_core__/node?path=directory", 403),
            ("/__zarr_core__/children?path=directory", 403),
            ("/__zarr_core__/node?path=" + "x" * 300, 414),
            ("/__zarr_core__/node?path=damaged", 200),
            ("/__zarr_core__/window?path=damaged", 500),
        ):
            found, headers, body = ask(server, target)
            assert (target, found) == (target, status)
            assert len(body) < 3000
            for text in (b"secret", str(tmp_path).encode()):
                assert text not in body
                assert text not in str(headers).encode()
    assert any(
        "secret%20location" in line for line in log
    )  # the log of the server has the full message


def test_hidden_files_are_not_sent(memory_server):
    """As in listings; names that a format has are sent."""
    store = memory_server.store
    for key in (".env", ".git/config", "a/.ssh/id", "a/.zattrs", ".zmetadata", ".manifest.jsonl"):
        store.set(key, b"{}")
        known = key.endswith((".zattrs", ".zmetadata", ".jsonl"))
        assert ask(memory_server, f"/{key}")[0] == (200 if known else 404)
