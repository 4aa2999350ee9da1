"""Live appends that are killed at any change of the store, or lose their lock."""

import contextlib
import os
import socket
import subprocess
import threading

import numpy as np
import pytest
import xarray as xr
import zarr_core
from kill_appenders import steps
from zarr_core import LocalStore, MemoryStore
from zarr_core.extension import BufferByteReader, ByteReader
from zarr_xarray import Appender, append, to_zarr
from zarr_xarray.append import lock

OPTIONS = {"chunk": 4, "coordinate_chunk": 100, "lock_seconds": 1e6, "flush_seconds": 1e9}
"""The lock is never renewed, which would be a change of the store.  That of an appender that was
killed is taken over at once, as no object of the process has it."""


class Killed(BaseException):
    """The process ends here."""


class Countdown:
    """Kills at one change of a store, before or after it, and at all later ones."""

    def __init__(self, changes=None, after=False):
        self.left, self.after, self.done = changes, after, 0

    def perform(self, change):
        if self.left is not None and self.done > self.left:
            raise Killed
        self.done += 1
        if self.left is not None and self.done > self.left:
            if self.after:
                change()
            raise Killed
        change()


class Counted:
    """Counts the changes of a store."""

    countdown = Countdown()

    def set(self, key, value):
        self.countdown.perform(lambda: super(Counted, self).set(key, value))

    def erase(self, key):
        self.countdown.perform(lambda: super(Counted, self).erase(key))


class KilledInMemory(Counted, MemoryStore):
    pass


class KilledLocal(Counted, LocalStore):
    pass


@pytest.fixture(params=[(3, "memory"), (2, "memory"), (3, "directory"), (2, "directory")], ids=str)
def opener(request, tmp_path):
    """A function that returns a store with the same values, and with a countdown."""
    zarr_format, kind = request.param
    values = {}

    def open_store(countdown=None):
        store = KilledInMemory(values) if kind == "memory" else KilledLocal(tmp_path / "a.zarr")
        store.countdown = countdown or Countdown()
        return store

    def reset(contents):
        store = open_store()
        for key in list(store.list()):
            store.erase(key)
        for key, value in contents.items():
            store.set(key, value)

    open_store.reset = reset
    open_store.zarr_format = zarr_format
    # A kill after one change leaves the same as one before the next.  Files are slow.
    open_store.stride = 2 if kind == "memory" else 4
    return open_store


def contents_of(store):
    return {key: bytes(store.get(key)) for key in store.list()}


def assert_prefix(store, lengths):
    """All readers see a prefix; readers of consolidated metadata see all variables alike."""
    with xr.open_dataset(store, engine="zarr_core") as ds:
        length = ds.sizes["t"]
        assert length in lengths
        xr.testing.assert_identical(ds.load(), steps(0, length))
    whole = steps(0, 100)
    for name, array in zarr_core.open_group(store, use_consolidated=False).arrays():
        assert array.shape[0] <= length
        assert (array[...] == whole[name].values[: array.shape[0]]).all()
    return length


def killed(opener, after, before, data, **options):
    """Append to some contents, and yield the number of changes whenever it was killed."""
    changes = 0
    while True:
        opener.reset(before)
        try:
            append(data, opener(Countdown(changes, after)), "t", **options)
        except Killed:
            yield changes
            changes += opener.stride
        else:
            break
    assert changes > 8


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_change(opener, after):
    append(steps(0, 6), opener(), "t", zarr_format=opener.zarr_format, **OPTIONS)
    found = set()
    for changes in killed(opener, after, contents_of(opener()), steps(6, 11), **OPTIONS):
        found.add(length := assert_prefix(opener(), {6, 11}))
        # The next appender repairs what was interrupted; it may be interrupted, too.
        try:
            append(steps(length, 13), opener(Countdown(changes % 7, after)), "t", **OPTIONS)
        except Killed:
            length = assert_prefix(opener(), {length, 13})
        if length < 13:
            append(steps(length, 13), opener(), "t", **OPTIONS)
        assert assert_prefix(opener(), {13}) == 13
        assert not zarr_core.check_consolidated(zarr_core.open_group(opener()))
        assert append(steps(13, 14), opener(), "t", **OPTIONS) == 14
        assert_prefix(opener(), {14})
    assert found == {6, 11}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_while_variables_are_created(opener, after):
    """They have all elements, and their encoding, when another appender continues."""
    heights = xr.DataArray([[1.5, np.nan], [0.5, 2.5]], dims=("x", "y"))
    data = steps(0, 5).assign(h=heights, names=("x", ["p", ""]))
    encoding = {"h": {"dtype": "float32", "chunks": (1, 2)}, "b": {"dtype": "float32"}}
    options = {**OPTIONS, "zarr_format": opener.zarr_format, "encoding": encoding}
    for _ in killed(opener, after, {}, data, **options):
        assert append(data, opener(), "t", on_duplicate="skip", **options) == 5
        with xr.open_dataset(opener(), engine="zarr_core") as ds:
            xr.testing.assert_equal(ds.load(), data)
            assert ds["h"].dtype == ds["b"].dtype == np.float32
        assert not zarr_core.check_consolidated(zarr_core.open_group(opener()))


def test_mappings_are_refused_while_variables_may_be_missing():
    values = {}
    store = KilledInMemory(values)
    store.countdown = Countdown(4)
    with pytest.raises(Killed):
        append(steps(0, 1), store, "t", **OPTIONS)
    after = KilledInMemory(values)
    with Appender(after, "t", **OPTIONS) as appender:
        step = {name: np.zeros(2 if name == "a" else ()) for name in "abt"}
        with pytest.raises(ValueError, match="was interrupted while it created"):
            appender.append(step)
        appender.append(steps(0, 2))
    assert_prefix(after, {2})


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_a_complete_group_is_used_as_it_is_after_its_first_append_was_killed(zarr_format):
    data = steps(0, 3).assign(h=("x", [1.5, 2.5]))
    for changes in range(2, 9):
        values = {}
        to_zarr(data.isel(t=slice(0, 0)), MemoryStore(values), zarr_format=zarr_format)
        store = KilledInMemory(values)
        store.countdown = Countdown(changes)
        with pytest.raises(Killed):
            append(data, store, "t", **OPTIONS)
        after, options = KilledInMemory(values), {**OPTIONS, "on_duplicate": "skip"}
        with pytest.raises(ValueError, match="'h' differs"):
            append(data.assign(h=data["h"] + 1), after, "t", **options)
        with Appender(after, "t", **options) as appender:
            appender.append({name: data[name].values for name in "abt"})
        with xr.open_dataset(after, engine="zarr_core") as ds:
            xr.testing.assert_equal(ds.load(), data)


class FailsOnce(Countdown):
    """Fails at one change, before or after it, as a server whose response is lost."""

    def perform(self, change):
        try:
            super().perform(change)
        except Killed:
            self.left = None
            raise zarr_core.errors.StoreError("lost") from None


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_flush_again_after_a_failure_appends_once(after, labelled, more):
    for changes in range(30):
        store = KilledInMemory()
        appender = Appender(store, "t", flush_every=100, **OPTIONS)
        data = steps(0, 12) if labelled else steps(0, 12).drop_vars("t")
        appender.append(data.isel(t=slice(0, 6)))
        appender.flush()
        appender.append(data.isel(t=slice(6, 10)))
        store.countdown = FailsOnce(changes, after)
        try:
            appender.flush()
        except zarr_core.errors.StoreError:
            assert (appender.length, appender.buffered) in {(6, 4), (10, 4)}
            if more:
                store.countdown = FailsOnce(changes, after)
                with contextlib.suppress(zarr_core.errors.StoreError):
                    appender.append(data.isel(t=slice(10, 12)))
                    appender.flush()
                if appender.length < 12 and appender.buffered < 6:
                    appender.append(data.isel(t=slice(10, 12)))  # failed before it was taken
            assert appender.flush() == (12 if more else 10)
        else:
            assert changes > 5
            break
        with xr.open_dataset(store, engine="zarr_core") as ds:
            xr.testing.assert_identical(ds.load(), data.isel(t=slice(0, 12 if more else 10)))


class ConditionalStore(MemoryStore):
    """Updates by compare-and-swap, as services do; ``pause`` is called before each swap."""

    pause = staticmethod(lambda key: None)

    def update(self, key, change):
        while True:
            old = self.get(key)
            value = change(None if old is None else BufferByteReader(old))
            if isinstance(value, ByteReader):
                return
            self.pause(key)
            if self.get(key) == old:
                self.erase(key) if value is None else self.set(key, value)
                return


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_a_slow_owner_whose_lock_was_taken_over_changes_nothing(zarr_format):
    """One appender sleeps within each of its writes, while another takes over and appends."""
    pause = 0
    while True:
        values = {}
        options = {**OPTIONS, "lock_seconds": 0.002, "on_unordered": "append"}
        append(steps(0, 6), ConditionalStore(values), "t", zarr_format=zarr_format, **options)
        slow = ConditionalStore(values)
        count = 0

        def sleep(key, slow=slow, pause=pause, values=values, options=options):
            nonlocal count
            count += 1
            if count == pause + 1:
                assert append(steps(20, 25), ConditionalStore(values), "t", **options) in {11, 13}

        appender = Appender(slow, "t", **options)
        appender.append(steps(6, 7))
        appender.discard()
        slow.pause = sleep
        appender.append(steps(6, 8))
        appender.close()
        with xr.open_dataset(ConditionalStore(values), engine="zarr_core") as ds:
            labels = ds["t"].values.tolist()
            assert labels[:6] == [*range(6)]
            assert sorted(labels[6:]) == [6, 7, *(range(20, 25) if count > pause else ())]
            assert (ds["b"].values == ds["t"].values * 0.5).all()
            assert (ds["a"].values == np.stack([ds["t"], -ds["t"]], 1)).all()
        assert not zarr_core.check_consolidated(zarr_core.open_group(ConditionalStore(values)))
        if count <= pause:
            break
        pause += 1
    assert pause > 8


def test_readers_never_see_different_lengths(opener):
    """A reader in another thread, while steps are appended."""
    append(steps(0, 1), opener(), "t", zarr_format=opener.zarr_format, **OPTIONS)
    errors = []
    ended = threading.Event()

    def read():
        try:
            while not ended.is_set():
                with xr.open_dataset(opener(), engine="zarr_core") as ds:
                    xr.testing.assert_identical(ds.compute(), steps(0, ds.sizes["t"]))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    with Appender(opener(), "t", flush_every=3, **OPTIONS) as appender:
        for number in range(1, 60):
            appender.append(steps(number, number + 1))
    ended.set()
    thread.join()
    assert not errors
    assert_prefix(opener(), {60})


RECORD = b'{"owner":"x","turn":7,"host":"%s","process":%d,"renewed":%.3f,"state":"held"}'


class Clock:
    """A clock that advances while an appender waits, at least by ``step``; ``tick`` is called then."""

    def __init__(self, tick=lambda now: None, step=0):
        self.now, self.tick, self.step = 0.0, tick, step

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += max(seconds, self.step)
        self.tick(self.now)


@pytest.mark.parametrize(
    ("renewed_until", "step", "taken_over"),
    [(0, 0, 5), (20, 0, 23), (20, 10, 20)],
    ids=["never renewed", "renewed", "renewed while the other appender is suspended"],
)
def test_a_lock_expires_when_it_is_not_renewed(monkeypatch, renewed_until, step, taken_over):
    store = MemoryStore()
    append(steps(0, 1), store, "t", **OPTIONS)

    def renew(now):
        if now < renewed_until:
            store.set(lock.LOCK_NAME, RECORD % (container, os.getpid(), now // 2))

    # Another container can have the same name of the computer, and the same numbers of processes.
    name = socket.gethostname() if os.path.exists("/proc/self/ns/pid") else "elsewhere"
    store.set(lock.LOCK_NAME, RECORD % (container := name.encode(), os.getpid(), 0))
    monkeypatch.setattr(lock, "time", clock := Clock(renew, step))
    assert append(steps(1, 2), store, "t", **{**OPTIONS, "lock_seconds": 5}) == 2
    assert taken_over <= clock.now < taken_over + 1


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are not found")
def test_the_lock_of_a_process_that_has_ended_is_taken_over_at_once(monkeypatch):
    store = MemoryStore()
    append(steps(0, 1), store, "t", **OPTIONS)
    monkeypatch.setattr(lock, "time", clock := Clock())
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # and stays a zombie
        for number, pid in enumerate((process.pid, 999999999), 1):
            store.set(lock.LOCK_NAME, RECORD % (lock.host().encode(), pid, 0))
            assert append(steps(number, number + 1), store, "t", **OPTIONS) == number + 1
    assert not clock.now


def test_the_lock_of_another_owner_is_neither_released_nor_removed():
    store = MemoryStore()
    record = RECORD % (b"elsewhere", 1, 0)
    owner = lock.AppendLock(store, "", 1e6)
    with pytest.raises(lock.LockLostError):
        owner.hold(lambda previous: store.set(lock.LOCK_NAME, record))
    owner.remove()
    assert bytes(store.get(lock.LOCK_NAME)) == record
