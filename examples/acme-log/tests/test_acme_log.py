"""What every store promises, then what becomes of a log that was cut, damaged, or killed at."""

import subprocess
import sys
from pathlib import Path

import pytest
import zarr_core as zarr
from acme_log import LogStore
from zarr_conformance.kit import StoreTests

PROGRAM = Path(__file__).with_name("log_writers.py")


class TestLog(StoreTests):
    name = "acme-log"

    def make(self, tmp_path):
        return LogStore(tmp_path / "store.acme-log")

    def again(self, store, *, read_only):
        return LogStore(store.path, read_only)


def contents(store):
    return {key: bytes(store.get(key)) for key in store.list()}


@pytest.fixture
def history(tmp_path):
    """A log, and what was in it at which length."""
    store = LogStore(tmp_path / "store.acme-log")
    states = {0: {}}
    steps = [("a", b"first"), ("b/c", b""), ("a", b"second"), ("b/c", None), ("x" * 300, b"long")]
    for key, value in steps:
        if value is None:
            store.erase(key)
        else:
            store.set(key, value)
        states[Path(store.path).stat().st_size] = contents(store)
    return store, states


def test_a_log_may_be_cut_anywhere(history, tmp_path):
    whole = Path(history[0].path).read_bytes()
    path = tmp_path / "cut.acme-log"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = history[1][max(end for end in history[1] if end <= length)]
        assert contents(LogStore(path, read_only=True)) == expected
        assert path.read_bytes() == whole[:length], "reading has changed something"
        LogStore(path).set("new", b"n")
        assert contents(LogStore(path)) == {**expected, "new": b"n"}


def test_zeros_at_the_end_are_nothing(history):
    store, states = history
    with open(store.path, "ab") as file:
        file.write(bytes(100))
    assert contents(LogStore(store.path)) == states[max(states)]
    store.set("new", b"n")
    assert contents(LogStore(store.path)) == {**states[max(states)], "new": b"n"}


def test_no_damaged_byte_is_taken_for_anything_else(history, tmp_path):
    store, states = history
    whole = Path(store.path).read_bytes()
    path = tmp_path / "damaged.acme-log"
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        for key, value in states[len(whole)].items():
            try:
                found = LogStore(path).get(key)
            except zarr.errors.StoreReadError:
                continue
            assert found is not None, f"byte {place}: {key} is gone"
            assert bytes(found) == value, f"byte {place}: {key} is another"


def test_another_file_is_no_log(tmp_path):
    (tmp_path / "notes.txt").write_text("mine, and not to be touched")
    with pytest.raises(zarr.errors.StoreError, match="no log"):
        LogStore(tmp_path / "notes.txt").set("a", b"")
    assert (tmp_path / "notes.txt").read_text() == "mine, and not to be touched"


def test_a_compacted_log_has_nothing_else(history):
    store, states = history
    before = Path(store.path).stat().st_size
    other = LogStore(store.path, read_only=True)
    old = contents(other)
    with other.open_value("a") as reader:
        version = store.version("a")
        store.compact()
        assert Path(store.path).stat().st_size < before
        assert bytes(reader.read(0, 6)) == b"second"
    assert contents(other) == contents(store) == old == states[before]
    assert store.version("a") != version
    assert [path.name for path in Path(store.path).parent.iterdir()] == ["store.acme-log"]


def test_a_damaged_value_is_not_left_out(history):
    store, _ = history
    damaged = Path(store.path).read_bytes().replace(b"second", b"sEcond")
    Path(store.path).write_bytes(damaged)
    with pytest.raises(zarr.errors.StoreReadError, match="checksum"):
        LogStore(store.path).compact()
    assert Path(store.path).read_bytes() == damaged


def test_a_full_disk_leaves_the_old_value(history):
    resource = pytest.importorskip("resource")
    store, states = history
    size = Path(store.path).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, hard))
    try:
        with pytest.raises(zarr.errors.StoreError, match="too large"):
            store.set("a", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert contents(LogStore(store.path)) == states[size]
    assert Path(store.path).stat().st_size == size


@pytest.mark.parametrize("what", ["count", "kill"])
def test_processes(what, tmp_path):
    run = subprocess.run(
        [sys.executable, PROGRAM, tmp_path / "store.acme-log", what],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_arrays_live_in_a_file_of_that_suffix(tmp_path):
    path = tmp_path / "field.acme-log"
    zarr.create_array(path, data=[1, 2, 3], chunks=2)
    assert path.is_file()
    assert zarr.open_array(path, mode="r")[...].tolist() == [1, 2, 3]
    assert zarr.open_array(f"acme-log://{path}").store == LogStore(path)
    with pytest.raises(zarr.errors.StoreError, match="absolute"):
        LogStore.from_url("acme-log://field.acme-log")
    with pytest.raises(zarr.errors.StoreError, match="no option"):
        LogStore.from_url(str(path), fsync=True)
