"""What all databases promise to several processes and writers, in files and on servers."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
from store_contract import LateUpdateContract
from waits import PATIENCE
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
    for _ in range(5):
        store.update("c/0", change)
threads = [threading.Thread(target=work, args=(first + number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
store.close()
"""


class DatabaseContract(LateUpdateContract):
    """Base class of the tests of a database."""

    has_snapshots = True
    """Whether an open reader returns the value as it was, also after it is replaced."""

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

    def test_listing_skips_deeper_keys(self, store):
        keys = ["a", "a!", "a-b/c", "a/b/c", "a/b/d", "a/b0", "a0", "é/x", "é/\U0010ffff"]
        for key in keys:
            store.set(key, b"")
        found, prefixes = store.list_dir("")
        assert sorted(found) == ["a", "a!", "a0"]
        assert sorted(prefixes) == ["a-b/", "a/", "é/"]
        assert store.list_dir("a/") == (["a/b0"], ["a/b/"])
        assert sorted(store.list_dir("é/")[0]) == ["é/x", "é/\U0010ffff"]

    def test_parts_of_a_large_value(self, store):
        value = np.random.default_rng(1).bytes(3_000_000)
        store.set("k", value)
        for first in (None, ByteRange(-100), ByteRange(2_000_000, 10), ByteRange(0)):
            with store.open_value("k", first) as reader:
                assert reader.size == len(value)
                assert bytes(reader.read(2_999_990, 10)) == value[-10:]
                buffers = [bytearray(50_000) for _ in range(20)]
                parts = [(number * 140_001, memoryview(it)) for number, it in enumerate(buffers)]
                reader.read_into(parts)
                for start, buffer in parts:
                    assert buffer == value[start : start + 50_000]
        expected = {
            **{ByteRange(start, 50_000): value[start : start + 50_000] for start, _ in parts},
            ByteRange(-9): value[-9:],
            ByteRange(-9, 4): value[-9:-5],
            ByteRange(2_999_999, 2**40): value[-1:],
            ByteRange(2**40, 5): b"",
            ByteRange(-(2**40), 3): value[:3],
        }
        for part in [*expected][-6:]:
            assert [*map(bytes, store.get_partial_values([("k", part)]))] == [expected[part]]
        together = store.get_partial_values([*(("k", it) for it in expected), ("n", ByteRange(0))])
        assert together.pop() is None
        assert [*map(bytes, together)] == [*expected.values()]

    def test_processes_with_threads_lose_nothing(self, store):
        store.set("c/0", bytes(12))
        state = pickle.dumps(store).hex()
        running = [subprocess.Popen(program(COUNT, state, 4 * number)) for number in range(3)]
        assert [one.wait() for one in running] == [0] * 3
        assert bytes(store.get("c/0")) == b"\x05" * 12

    def test_a_forked_process_uses_the_store_on(self, store):
        store.set("k", b"parent")
        store.set("large", bytes(200_000))
        with store.open_value("large", ByteRange(0, 1)) as reader:
            child = os.fork()
            if not child:
                ok = False
                try:
                    ok = bytes(store.get("k")) == b"parent"
                    store.set("k", b"child")
                    store.update("k", lambda old: bytes(old.read(0, 5)) + b"!")
                    store.close()
                finally:
                    os._exit(0 if ok else 1)
            assert os.waitpid(child, 0)[1] == 0
            for number in range(1, 6 if self.has_snapshots else 0):
                # The space of values without readers is reused.
                store.set("large", bytes([number]) * 200_000)
            assert bytes(reader.read(0, 200_000)) == bytes(200_000)
            store.erase("large")
            if self.has_snapshots:
                assert bytes(reader.read(199_997, 3)) == bytes(3)
        assert bytes(store.get("k")) == b"child!"
        assert store.get("large") is None

    def test_a_forked_process_has_its_own_locks(self, store):
        store.set("k", b"parent")
        (child_in, to_child), (parent_in, to_parent) = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            try:
                store.get("k")
                os.write(to_parent, b".")
                os.read(child_in, 1)
                store.set("k", b"child")
            finally:
                os.write(to_parent, b".")
                os._exit(0)
        os.read(parent_in, 1)
        store.close()  # must not remove the log that the child uses
        os.write(to_child, b".")
        assert os.waitpid(child, 0)[1] == 0
        assert bytes(store.get("k")) == b"child"
        for descriptor in (child_in, to_child, parent_in, to_parent):
            os.close(descriptor)

    def test_readers_do_not_wait_for_an_update(self, store):
        store.set("k", b"old")
        inside, done = threading.Event(), threading.Event()

        def change(reader):
            inside.set()
            assert done.wait(PATIENCE)
            return b"new"

        thread = threading.Thread(target=store.update, args=("k", change))
        thread.start()
        assert inside.wait(PATIENCE)
        assert bytes(store.get("k")) == b"old"
        store.set("other", b"v")
        assert thread.is_alive()
        done.set()
        thread.join()
        assert bytes(store.get("k")) == b"new"
