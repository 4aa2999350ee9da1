import copy
import gc
import os
import pickle
import subprocess
import sys

import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.extension import StoreError
from zarr_stores.wrappers.temp import TempStore


class Kept(TempStore):
    """A store that ``close`` does not remove, because the store tests read after ``close``."""

    def close(self):
        pass


class TestTempStore(StoreContract):
    key_may_be_prefix = False

    def make(self, tmp_path):
        tmp_path.mkdir(exist_ok=True)
        return Kept(dir=tmp_path)

    def again(self, store, *, read_only):
        return zarr.LocalStore(store.path, read_only=read_only)


def test_close_removes_the_directory_whatever_is_in_it(tmp_path):
    with TempStore("y", "x", tmp_path) as store:
        name = os.path.basename(store.path)
        assert name.startswith("x")
        assert name.endswith("y")
        assert os.stat(store.path).st_mode & 0o777 == 0o700
        store.set("/".join("d" * 1200), b"deep")
        store.set(".a/b", b"")
        with open(os.path.join(store.path, ".k.1-2.zarr-partial"), "wb"):
            pass
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_a_closed_store_reads_nothing_as_missing(tmp_path):
    store = TempStore(dir=tmp_path)
    same = zarr.LocalStore(store.path)
    array = zarr.create_array(store, shape=3, dtype="i4", fill_value=7)
    store.close()
    for call in (
        lambda: store.get("k"),
        lambda: store.exists("k"),
        lambda: store.open_value("k"),
        lambda: store.set("k", b""),
        lambda: store.update("k", lambda _: b""),
        lambda: list(store.list()),
        lambda: store.list_dir(""),
        lambda: store.erase_prefix(""),
        lambda: array[...],
        lambda: array.__setitem__(0, 1),
    ):
        with pytest.raises(StoreError, match="is closed"):
            call()
    assert list(tmp_path.iterdir()) == []
    assert store == same
    assert hash(store) == hash(same)


REFERENCED = """
import gc, os, sys
import zarr_core as zarr
from zarr_stores.wrappers.temp import TempStore

parent = sys.argv[1]
array = zarr.create_array(TempStore(dir=parent), shape=3, dtype="i4")
array[...] = 5
gc.collect()
assert array[1] == 5
assert len(os.listdir(parent)) == 1
del array
gc.collect()
assert os.listdir(parent) == []
"""


def test_the_directory_exists_while_the_store_is_referenced(tmp_path):
    # In a process of its own: what other tests leave behind, such as threads and handlers of
    # log records, can keep objects in memory.
    subprocess.run([sys.executable, "-c", REFERENCED, tmp_path], check=True)


def test_copies_and_pickles_remove_nothing(tmp_path):
    store = TempStore(dir=tmp_path)
    store.set("k", b"v")
    assert copy.copy(store) is copy.deepcopy(store) is store
    other = pickle.loads(pickle.dumps(store))
    assert other == store
    other.close()
    del other
    gc.collect()
    assert store.get("k") == b"v"


PROGRAM = """
import os, sys
from zarr_stores.wrappers.temp import TempStore
store = TempStore(dir=sys.argv[1])
store.set("a/b", b"v")
child = os.fork()
if not child:
    store.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
other = os.fork()
if not other:
    sys.exit(0)
assert os.waitpid(other, 0)[1] == 0
assert store.get("a/b") == b"v"
print(os.path.exists(store.path))
{end}
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit", "held = [store]; held.append(held)"])
def test_only_the_creating_process_removes_the_directory(tmp_path, end):
    program = PROGRAM.format(end=end)
    run = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "True\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_created(tmp_path):
    with pytest.raises(StoreError, match="cannot create a temporary directory"):
        TempStore(dir=tmp_path / "none")


def test_a_link_that_replaces_the_directory_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    store = TempStore(dir=tmp_path)
    os.rmdir(store.path)
    os.symlink(tmp_path / "precious", store.path)
    with pytest.raises(StoreError, match="cannot be removed"):
        store.close()
    assert (tmp_path / "precious" / "file").exists()
