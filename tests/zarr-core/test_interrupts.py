"""Interrupts of calls that wait for a store."""

import signal
import threading
from contextlib import contextmanager, suppress

import numpy as np
import pytest
import zarr_core as zarr
from waits import PATIENCE
from zarr_core import threads
from zarr_core.engine.scratch import MemoryLimiter
from zarr_core.extension import Store, StoreError
from zarr_stores.object.interruptible import call_interruptibly


@contextmanager
def interrupt_when(ready):
    """Interrupt the main thread in the block as soon as an event is set, and expect it."""

    def interrupt():
        if ready.wait(PATIENCE):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as caught:  # noqa: PT012 - a block of the test
        try:
            yield caught
            threading.Event().wait(PATIENCE)  # the block is over early: the signal may be late
        finally:
            ready.set()
            thread.join()


class HangingStore(Store):
    """A store whose requests wait, in as many threads as it permits, until they are let go."""

    max_concurrency = 4

    def __init__(self):
        self.values = {}
        self.hangs = False
        self.asked = threading.Event()
        self.answered = threading.Event()
        self.guard = threading.Lock()
        self.waiting = 0
        self.continued = []

    def request(self, key):
        if not self.hangs:
            return
        with self.guard:
            self.waiting += 1
            if self.waiting == self.max_concurrency:
                self.asked.set()
        with threads.waiting(f"the answer for {key}"):
            assert self.answered.wait(PATIENCE)
        self.continued.append(key)

    def get(self, key):
        self.request(key)
        return self.values.get(key)

    def set(self, key, value):
        self.request(key)
        buffers = value if isinstance(value, list | tuple) else [value]
        self.values[key] = b"".join(buffers)

    def erase(self, key):
        self.values.pop(key, None)

    def list_prefix(self, prefix):
        return (key for key in list(self.values) if key.startswith(prefix))


@pytest.fixture
def store():
    store = HangingStore()
    yield store
    store.answered.set()


def created(store):
    return zarr.create_array(
        store, data=np.full((8, 6), 5, "uint16"), chunks=(1, 6), compressors=None, fill_value=0
    )


def test_an_interrupt_ends_reading_from_a_store_that_hangs(store):
    array = created(store)
    store.hangs = True
    with interrupt_when(store.asked):
        array[...]
    assert store.continued == []
    store.hangs = False
    store.answered.set()
    assert (array[...] == 5).all()


def test_an_interrupt_of_writing_names_what_may_not_be_stored(store):
    array = created(store)
    store.hangs = True
    with interrupt_when(store.asked) as caught:
        array[...] = 7
    assert set(caught.value.unconfirmed) == {f"c/{row}/0" for row in range(8)}
    assert "c/0/0" in caught.value.__notes__[0]
    store.hangs = False
    store.answered.set()
    assert (array[...] == 5).all()  # no thread that was left stores its chunk later
    array[...] = 7
    assert (array[...] == 7).all()


def test_threads_that_compute_are_waited_for():
    began, finished = threading.Event(), []
    gate = threading.Barrier(2, timeout=PATIENCE)

    def work(number):
        gate.wait()
        began.set()
        for _ in range(50):  # as codecs do, in short steps
            threading.Event().wait(0.01)
        finished.append(number)

    with interrupt_when(began):
        threads.parallel_for([0, 1], work, True, 2)
    assert sorted(finished) == [0, 1]


def test_a_call_for_a_time_is_left_if_it_waits():
    release = threading.Event()

    def work():
        with threads.waiting("nothing"):
            release.wait(PATIENCE)
        raise AssertionError("continues although the caller has left")

    assert not threads.call_for(0.05, work)
    release.set()


def test_a_call_for_a_time_that_computes_is_waited_for():
    done = []

    def work():
        threading.Event().wait(0.2)
        done.append(True)

    assert not threads.call_for(0.01, work)
    assert done == [True]


@pytest.mark.parametrize("from_main", [True, False])
def test_an_interruptible_call_returns_and_raises_as_the_function(from_main):
    found = []

    def fail():
        raise StoreError("it is full")

    def calls():
        found.append(call_interruptibly(lambda: 7, "seven"))
        with pytest.raises(StoreError, match="it is full"):
            call_interruptibly(fail, "nothing")

    if from_main:
        calls()
    else:
        thread = threading.Thread(target=calls)
        thread.start()
        thread.join()
    assert found == [7]


def test_an_interruptible_call_ends_while_the_function_waits():
    asked, release = threading.Event(), threading.Event()

    def work():
        asked.set()
        release.wait(PATIENCE)

    with interrupt_when(asked):
        call_interruptibly(work, "an answer")
    assert not release.is_set()
    release.set()


def test_the_longest_wait_has_its_subject():
    with threads.waiting("the first"):
        with threads.waiting("a second"):
            seconds, subject = threads.longest_wait()
        assert subject == "the first"
        assert 0 <= seconds < PATIENCE
    assert threads.longest_wait() is None


def test_an_interrupt_ends_waiting_for_a_lock():
    lock, asked = threading.Lock(), threading.Event()

    def work(_):
        asked.set()
        with threads.interruptible(lock):
            raise AssertionError("continues although the caller has left")

    with lock, interrupt_when(asked):
        threads.parallel_for([0, 1], work, True, 2)
    # The threads that were left acquire the lock and release it.
    assert lock.acquire(timeout=PATIENCE)
    lock.release()
    with threads.interruptible(lock):
        assert lock.locked()


def test_an_interrupt_at_any_moment_leaves_no_lock_and_no_reserved_memory():
    lock, limiter = threading.Lock(), MemoryLimiter(10)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for moment in range(2000):
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (moment % 50 + 1))
                while True:
                    with threads.interruptible(lock), limiter.reserve(lambda: 1):
                        pass
            assert not lock.locked()
            assert limiter.used == 0
    finally:
        signal.signal(signal.SIGALRM, before)
    other = threading.Thread(target=limiter.reserve(lambda: 1).__enter__, daemon=True)
    other.start()
    other.join(PATIENCE)
    assert not other.is_alive()
