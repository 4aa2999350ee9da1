"""The conformance tests; truncated logs, damaged logs and killed writers."""

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
    """A log, and its contents at each length."""
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


def test_truncated_logs_contain_the_complete_records(history, tmp_path):
    whole = Path(history[0].path).read_bytes()
    path = tmp_path / "cut.acme-log"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = history[1][max(end for end in history[1] if end <= length)]
        assert contents(LogStore(path, read_only=True)) == expected
        assert path.read_bytes() == whole[:length], "reading has changed something"
        LogStore(path).set("new", b"n")
        assert contents(LogStore(path)) == {**expected, "new": b"n"}


def test_zeros_at_the_end_are_ignored(history):
    store, states = history
    with open(store.path, "ab") as file:
        file.write(bytes(100))
    assert contents(LogStore(store.path)) == states[max(states)]
    store.set("new", b"n")
    assert contents(LogStore(store.path)) == {**states[max(states)], "new": b"n"}


def test_damaged_bytes_raise_or_do_not_change_values(history, tmp_path):
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


def test_other_files_are_rejected(tmp_path):
    (tmp_path / "notes.txt").write_text("not a log")
    with pytest.raises(zarr.errors.StoreError, match="not a log"):
        LogStore(tmp_path / "notes.txt").set("a", b"")
    assert (tmp_path / "notes.txt").read_text() == "not a log"


def test_a_compacted_log_contains_the_same_values(history):
    store, states = history
    before = Path(store.path).stat().st_size
    other = LogStore(store.path, read_only=True)
    old = contents(other)
    with other.open_value("a") as reader:
        version = store.generation("a")
        store.compact()
        assert Path(store.path).stat().st_size < before
        assert bytes(reader.read(0, 6)) == b"second"
    assert contents(other) == contents(store) == old == states[before]
    assert store.generation("a") != version
    assert [path.name for path in Path(store.path).parent.iterdir()] == ["store.acme-log"]


def test_compact_rejects_a_damaged_value(history):
    store, _ = history
    damaged = Path(store.path).read_bytes().replace(b"second", b"sEcond")
    Path(store.path).write_bytes(damaged)
    with pytest.raises(zarr.errors.StoreReadError, match="checksum"):
        LogStore(store.path).compact()
    assert Path(store.path).read_bytes() == damaged


def test_a_full_disk_keeps_the_old_value(history):
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
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_the_suffix_selects_the_store(tmp_path):
    path = tmp_path / "field.acme-log"
    zarr.create_array(path, data=[1, 2, 3], chunks=2)
    assert path.is_file()
    assert zarr.open_array(path, mode="r")[...].tolist() == [1, 2, 3]
    assert zarr.open_array(f"acme-log://{path}").store == LogStore(path)
    with pytest.raises(zarr.errors.StoreError, match="absolute"):
        LogStore.from_url("acme-log://field.acme-log")
    with pytest.raises(zarr.errors.StoreError, match="no options fsync"):
        LogStore.from_url(str(path), fsync=True)
