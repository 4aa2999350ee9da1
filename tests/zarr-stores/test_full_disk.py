"""A full disk raises an error with store and key, and does not affect stored values."""

import pickle
import subprocess
import sys

import pytest
from server_store_contract import unique
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from zarr_core.extension import StoreError
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.postgresql import PostgreSQLStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.databases.sqlite import SQLiteStore

pytest_plugins = ["servers.fixtures"]
PIECE = 300_000

# A limit on the size of files simulates a full disk without special permissions.
LIMITED = """
import pickle, resource, sys
from zarr_core.extension import StoreError
store = pickle.loads(bytes.fromhex(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000,) * 2)
for number in range(20):
    try:
        store.set(f"n/{number}", bytes([number]) * 300_000)
    except StoreError as error:
        assert f"'n/{number}'" in str(error), error
        assert str(store) in str(error), error
        break
else:
    sys.exit("no error")
large = bytes(3_000_000)
for change in (lambda: store.set("k", large), lambda: store.update("k", lambda old: large)):
    try:
        change()
    except StoreError as error:
        assert "'k'" in str(error), error
    else:
        sys.exit("no error")
    assert bytes(store.get("k")) == b"old"
print(number)
"""


def fill(store):
    """Store values until the disk is full; return their number."""
    numbers = []

    def add():
        for number in range(400):
            numbers.append(number)
            store.set(f"n/{number}", bytes([number % 251]) * PIECE)

    store.set("k", b"old")
    with pytest.raises(StoreError) as caught:
        add()
    assert f"{store} 'n/{numbers[-1]}'" in str(caught.value)
    return numbers[-1]


def look(store, number):
    """Check that exactly the acknowledged values are stored."""
    for it in range(number):
        assert bytes(store.get(f"n/{it}")) == bytes([it % 251]) * PIECE
    assert store.get(f"n/{number}") is None
    assert bytes(store.get("k")) == b"old"


@pytest.mark.parametrize("kind", [SQLiteStore, LMDBStore, DBMStore])
def test_a_database(kind, tmp_path):
    with kind(tmp_path / "database") as store:
        store.set("k", b"old")
    state = pickle.dumps(kind(tmp_path / "database")).hex()
    code = [sys.executable, "-W", "error", "-c", LIMITED, state]
    done = subprocess.run(code, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with kind(tmp_path / "database") as store:
        look(store, int(done.stdout))
        store.set("k", b"new")  # the disk has space again


class Limited:
    """A server with a limit on the size of files, which ignores the signal."""

    blocks = 40_000  # of 512 bytes

    def command(self):
        program = [str(word) for word in super().command()]
        words = f'trap "" XFSZ; ulimit -f {self.blocks}; exec "$0" "$@"'
        return ["/bin/sh", "-c", words, *program]


class Postgres(Limited, PostgresServer):
    def store(self):
        return PostgreSQLStore(f"{self.url}?table={unique()}", retry_timeout=0)


class Redis(RedisServer):
    """All data is in memory."""

    def command(self):
        return [*super().command(), "--maxmemory", "9mb", "--maxmemory-policy", "noeviction"]

    def store(self):
        return RedisStore(self.url, retry_timeout=0)


@pytest.mark.parametrize("kind", [Postgres, Redis])
def test_a_database_server(own_server, kind):
    server = own_server(kind)
    with server.store() as store:
        number = fill(store)
        look(store, number)
