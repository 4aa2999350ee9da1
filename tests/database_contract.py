"""What all databases promise to several processes and writers, in files and on servers."""

import pickle
import subprocess
import sys

from store_contract import StoreContract
from zarr_core.extension import ByteRange


def program(code, *arguments):
    return [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]


COUNT = """
import pickle, sys, threading
store = pickle.loads(bytes.fromhex(sys.argv[1]))
first = int(sys.argv[2])
def work(cell):
    def change(reader):
        value = bytearray(reader.read(0, reader.size))
        value[cell] += 1
        return value
    for _ in range(10):
        store.update("c/0", change)
threads = [threading.Thread(target=work, args=(first + number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
store.close()
"""


class DatabaseContract(StoreContract):
    """Base class of the tests of a database."""

    def test_reading_creates_nothing(self, tmp_path):
        store = self.make(tmp_path)
        before = [*tmp_path.iterdir()]
        for it in (store, self.again(store, read_only=True)):
            assert it.get("k") is None
            assert it.get_partial_values([("k", ByteRange(0))]) == [None]
            assert list(it.list()) == []
            assert it.list_dir("") == ([], [])
            assert not it.exists("k")
            assert it.getsize("k") is None
            assert it.open_value("k") is None
            it.close()
        store.erase("k")
        store.erase_prefix("")
        assert [*tmp_path.iterdir()] == before
        store.close()

    def test_processes_with_threads_lose_nothing(self, store):
        store.set("c/0", bytes(12))
        state = pickle.dumps(store).hex()
        running = [subprocess.Popen(program(COUNT, state, 4 * number)) for number in range(3)]
        assert [one.wait() for one in running] == [0] * 3
        assert bytes(store.get("c/0")) == b"\x0a" * 12

    def test_an_update_that_is_always_late_gets_its_turn(self, store):
        store.set("k", b"0")
        calls = []

        def change(reader):
            calls.append(bytes(reader.read(0, reader.size)))
            if len(calls) <= 3:  # a writer that does not use ``update`` was faster
                store.set("k", str(len(calls)).encode())
            return b"mine after " + calls[-1]

        store.update("k", change)
        assert calls == [b"0", b"1", b"2", b"3"]
        assert bytes(store.get("k")) == b"mine after 3"
