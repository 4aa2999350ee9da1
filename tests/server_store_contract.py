"""The requirements of stores on servers, tested with the real server."""

import itertools
import logging
import os
import pickle
import socket
import subprocess
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest
from database_contract import DatabaseContract, program
from servers.faults import drop, reset, truncate
from waits import eventually
from zarr_conformance.kit.store_keys import GOOD_KEYS
from zarr_core.extension import ByteRange, StoreError, StoreReadError, ValueReplacedError

SECRET = "s3cr%40t%2Fpa:ss"
SILENCE = 1.0
"""Seconds after which a server that says nothing is given up."""
_numbers = itertools.count()


def unique():
    return f"t{os.getpid()}x{next(_numbers)}"


@contextmanager
def slow_line(server):
    """A proxy that passes 50,000 bytes in a sixteenth of ``SILENCE``."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, target, pause):
        with suppress(OSError), source, target:
            while piece := source.recv(50_000):
                time.sleep(pause * len(piece) / 50_000)
                target.sendall(piece)

    def serve():
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                there = socket.create_connection((server.host, server.port))
                for pair in ((client, there, 0), (there, client, SILENCE / 16)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield SimpleNamespace(host="127.0.0.1", port=listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)


LEAVE = """
import os, pickle, sys
from zarr_core.extension import ByteRange
store = pickle.loads(bytes.fromhex(sys.argv[1]))
reader = store.open_value("k", ByteRange(0, 1))
reader.read(150_000, 5)
child = os.fork()
if not child:
    assert bytes(store.get("k")) == bytes(200_000)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert bytes(reader.read(100_000, 2)) == bytes(2)
"""


class ServerStoreContract(DatabaseContract):
    """Base class of the tests; a subclass is a row of the table of servers."""

    examples = 10
    has_snapshots = False

    kind = None
    """The class."""

    fixture = ""
    """The name of the fixture of the server."""

    address = ""
    """The URL, with ``{login}``, ``{host}``, ``{database}`` and ``{place}``."""

    database = ""
    """The name of the database."""

    missing = ("", "")
    """The name of a database that does not exist, and the error of the server."""

    @pytest.fixture(autouse=True)
    def server(self, request):
        """The server."""
        self._server = request.getfixturevalue(self.fixture)
        return self._server

    def at(self, place, server=None, login=None, database=None, **options):
        """A store of this kind at a location of the server, or behind a proxy."""
        server = server or self._server
        role = getattr(self._server, "role", "")
        url = self.address.format(
            login=(f"{role}@" if role else "") if login is None else login,
            host=f"{server.host}:{server.port}",
            database=self.database if database is None else database,
            place=place,
        )
        return self.kind(url, **options)

    def again(self, store, *, read_only):
        return self.kind(store.url, read_only=read_only)

    def make(self, tmp_path):
        return self.at(unique())

    def with_secret(self):
        """A store with ``SECRET`` in its URL; the server need not accept it."""
        return self.at("secret", login=f"me:{SECRET}@", retry_timeout=0, connect_timeout=1)

    # --- secrets ---

    def test_secrets_are_hidden(self, caplog):
        caplog.set_level(logging.DEBUG)
        store = self.with_secret()
        said = [repr(store), str(store), store.url]
        try:
            store.set("k", b"v")
            store.get("k")
        except StoreError as error:
            said += traceback.format_exception(error)
        store.close()
        with pytest.raises(StoreError, match="pickled") as failure:
            pickle.dumps(store)
        said += [str(failure.value), caplog.text]
        for text in said:
            assert "s3cr" not in text
        assert store == self.with_secret()

    @pytest.mark.parametrize("sign", ["/", "?", "#", "@", "/1?x=", ":"])
    def test_unescaped_secret_is_not_shown(self, sign):
        for text in (f"me:{sign}s3cr", f"me:12{sign}s3cr", f"me:s3cr{sign}12"):
            for rest in ("host/0", "host:12/0", "[::1", "host:port/0"):
                try:
                    said = self.kind(f"{self.name}://{text}@{rest}").url
                except StoreError as error:
                    said = "".join(traceback.format_exception(error))
                assert "s3cr" not in said

    def test_a_secret_comes_from_the_environment(self, store, monkeypatch):
        monkeypatch.delenv("ZARR_TEST_SECRET", raising=False)
        other = type(store)(store.url, password_variable="ZARR_TEST_SECRET")
        assert b"ZARR_TEST_SECRET" in pickle.dumps(other)
        copy = pickle.loads(pickle.dumps(other))
        assert copy == other
        with pytest.raises(StoreError, match="ZARR_TEST_SECRET"):
            copy.get("k")

    def test_pickles_have_the_options(self):
        store = self.at(unique(), timeout=7, max_concurrency=3)
        copy = pickle.loads(pickle.dumps(store))
        assert (copy, copy.max_concurrency, copy._timeout) == (store, 3, 7.0)
        assert self.at(unique()).max_concurrency == self.kind.max_concurrency

    # --- keys ---

    def test_long_and_odd_keys_list_and_erase_as_they_are(self, store):
        name = "é" * 100 + "x" * 47
        keys = [*GOOD_KEYS, "/".join([name] * 5), "p/[a-z]*?^$.+(|)_%", "p/[a-z]", "p/xyz"]
        if not self.key_may_be_prefix:
            begun = {key[:end] for key in keys for end in range(len(key)) if key[end] == "/"}
            keys = [key for key in keys if key not in begun]
        assert max(len(key.encode()) for key in keys) >= 1024
        for key in keys:
            store.set(key, key.encode())
        assert sorted(store.list()) == sorted(keys)
        assert sorted(store.list_prefix("p/")) == sorted(key for key in keys if key[:2] == "p/")
        found, _ = store.list_dir("p/")
        assert sorted(found) == sorted(key for key in keys if key[:2] == "p/")
        store.set("p*/inside", b"")
        store.erase_prefix("p*/")
        assert store.exists("p/xyz")
        store.erase_prefix("p/")
        assert not store.exists("p/xyz")
        assert list(store.list_prefix("p/")) == []

    def test_places_do_not_see_each_other(self, tmp_path):
        one, two = self.make(tmp_path), self.make(tmp_path)
        one.set("k", b"1")
        two.set("k", b"2")
        one.erase_prefix("")
        assert bytes(two.get("k")) == b"2"
        assert list(one.list()) == []
        one.close()
        two.close()

    # --- parts ---

    def test_a_value_beyond_a_limit_is_not_received(self, server, proxy_before):
        proxy = proxy_before(server, "tcp")
        with self.at(unique(), proxy) as store:
            store.set("k", bytes(3_000_000))
            proxy.forget()
            assert store.get_limited("k", 999) == 3_000_000
            assert proxy.traffic.received < 500_000  # SFTP reads ahead
            assert len(store.get_limited("k", 3_000_000)) == 3_000_000

    def test_many_threads_read_parts_of_one_value(self, store):
        value = np.random.default_rng(4).bytes(2_000_000)
        store.set("k", value)
        with store.open_value("k") as reader, ThreadPoolExecutor(16) as pool:
            found = pool.map(
                lambda start: (start, bytes(reader.read(start, 999))), range(0, 1_900_000, 9_999)
            )
            assert all(part == value[start : start + 999] for start, part in found)

    def test_many_keys_at_once(self, store):
        keys = [f"c/{number}" for number in range(1100)]
        store.set_partial_values([(key, 0, key.encode()) for key in keys[:40]])
        asked = [(key, ByteRange(2, 2)) for key in keys]
        found = store.get_partial_values(asked)
        assert [bytes(it) for it in found[:40]] == [key[2:4].encode() for key in keys[:40]]
        assert found[40:] == [None] * 1060
        store.erase_values(keys)
        assert list(store.list()) == []

    def test_a_value_beyond_the_limit_of_the_server_is_rejected(self, store, monkeypatch):
        monkeypatch.setattr(self.kind, "largest_value", 1000)
        store.set("k", bytes(1000))
        for call in (
            lambda: store.set("k", bytes(1001)),
            lambda: store.update("k", lambda _: bytes(1001)),
        ):
            with pytest.raises(StoreError, match=r"'k': the value has 1,001 bytes.*at most 1,000"):
                call()
        assert store.getsize("k") == 1000

    def test_a_large_value_that_is_replaced_is_never_mixed(self, store):
        old, new = b"o" * 1_000_000, b"n" * 1_000_000
        store.set("k", old)
        with store.open_value("k", ByteRange(-10)) as reader:
            assert bytes(reader.read(999_995, 5)) == old[:5]
            assert bytes(reader.read(5, 5)) == old[:5]
            store.set("k", new)
            for start in (500_000, 600_000, 5):
                said = "'k'"
                try:
                    assert bytes(reader.read(start, 5)) == old[:5]
                except ValueReplacedError as error:
                    said = str(error)
                assert "'k'" in said
        with store.open_value("k") as reader:
            assert bytes(reader.read(500_000, 5)) == new[:5]
            assert bytes(reader.read(0, 5)) == new[:5]

    def test_processes_may_end_without_closing(self, store):
        store.set("k", bytes(200_000))
        code = program(LEAVE, pickle.dumps(store).hex())
        done = subprocess.run(code, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")

    # --- failures ---

    def test_a_missing_database_raises(self):
        database, message = self.missing
        with self.at(unique(), database=database) as store:
            for call in (store.get, store.exists, lambda key: store.set(key, b"")):
                with pytest.raises(StoreError, match=f"'k': .*{message}"):
                    call("k")

    def test_a_server_that_is_not_there(self, store, server):
        store.set("a/k", b"v")
        server.kill()
        store = self.at(unique(), retry_timeout=0.1, connect_timeout=0.1)
        for call in (
            lambda: store.get("a/k"),
            lambda: store.set("a/k", b"new"),
            lambda: store.exists("a/k"),
            lambda: store.open_value("a/k"),
            lambda: store.update("a/k", lambda reader: b"new"),
            lambda: store.get_partial_values([("a/k", ByteRange(0))]),
            lambda: store.erase("a/k"),
        ):
            with pytest.raises(StoreError, match="a/k") as failure:
                call()
            assert store.url in str(failure.value)
        with pytest.raises(StoreReadError, match="a/"):
            list(store.list_prefix("a/"))

    def test_a_server_that_hangs_is_given_up(self, store, server):
        store.set("a/k", b"v")
        slow = type(store)(store.url, timeout=0.5, connect_timeout=0.5, retry_timeout=0)
        assert bytes(eventually(lambda: slow.get("a/k"), StoreError)) == b"v"
        with server.frozen():
            time.sleep(0.1)  # until nothing changes
            with pytest.raises(StoreError, match="a/k"):
                slow.get("a/k")
        assert bytes(eventually(lambda: slow.get("a/k"), StoreError)) == b"v"
        slow.close()

    @pytest.mark.parametrize(
        "fault", [reset(100_000), truncate(100_000), drop()], ids=lambda fault: fault.kind
    )
    def test_an_answer_that_breaks_off_is_asked_for_again(self, proxy_before, server, fault):
        proxy = proxy_before(server, "tcp")
        value = np.random.default_rng(3).bytes(300_000)
        place = self.at(unique(), proxy)
        place.set("k", value)
        for read in (
            lambda: bytes(place.get("k")),
            lambda: bytes(place.get_partial_values([("k", ByteRange(0))])[0]),
            lambda: bytes(place.open_value("k", ByteRange(0)).read(0, 300_000)),
        ):
            proxy.break_connections()
            proxy.inject(fault)  # of the next connection
            assert read() == value
            assert len(proxy.traffic.faults) == 1
            proxy.reset()
        proxy.break_connections()
        proxy.inject(fault)
        place.set("k", value[::-1])
        assert bytes(place.get("k")) == value[::-1]
        place.close()

    def test_a_change_is_made_once_wherever_the_line_breaks(self, proxy_before, server):
        """The answer to the write may be lost: the write is done, not done, or unknown."""
        proxy, place = proxy_before(server, "tcp"), unique()
        direct = self.at(place)
        direct.set("n", b"0")

        def add():
            with self.at(place, proxy, max_concurrency=1) as store:
                store.update("n", lambda old: b"%d" % (1 + int(bytes(old.read(0, old.size)))))

        add()
        lengths = [exchange.received for exchange in proxy.traffic.exchanges]
        length = max(lengths)
        outcomes, broken = set(), []
        for left in (1, 8, 20, 32, 48, 72, 110, 160, 250, length // 2, length - 1):
            before = int(bytes(direct.get("n")))
            proxy.reset()
            proxy.inject(reset(length - left), skip=lengths.index(length))
            try:
                add()
                said = "done"
            except StoreError as error:
                said = "unknown" if "unknown" in str(error) else "not done"
            outcomes.add((said, int(bytes(direct.get("n"))) - before))
            broken += proxy.traffic.faults
        direct.close()
        assert outcomes <= {("done", 1), ("not done", 0), ("unknown", 0), ("unknown", 1)}
        assert len(broken) > 8  # libraries may connect in another order

    def test_a_slow_line_is_not_given_up(self, server):
        """Only silence is an error: the value arrives in pieces, in much more time than the limit."""
        with slow_line(server) as line:
            name = unique()
            with self.at(name) as place:
                place.set("k", b"slow" * 300_000)
            place = self.at(name, line, timeout=SILENCE, retry_timeout=0)
            began = time.monotonic()
            assert bytes(place.get("k")) == b"slow" * 300_000
            assert time.monotonic() - began > SILENCE
            place.close()
