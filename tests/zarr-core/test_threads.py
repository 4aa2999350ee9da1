"""Parallel execution in threads."""

import itertools
import os
import subprocess
import sys
import threading
import time

import pytest
from waits import PATIENCE
from zarr_core import threads
from zarr_core.config import config


def test_every_task_is_done_once():
    done = []
    with config.set(threads=4):
        threads.parallel_for(list(range(1000)), done.append)
    assert sorted(done) == list(range(1000))


def test_several_threads_work():
    seen = set()
    gate = threading.Barrier(3, timeout=PATIENCE)

    def work(_):
        seen.add(threading.get_ident())
        gate.wait()

    with config.set(threads=3):
        threads.parallel_for([0, 1, 2], work)
    assert len(seen) == 3


@pytest.mark.parametrize("count", [0, 1])
def test_no_thread_is_started_where_none_is_wanted(count):
    seen = set()
    with config.set(threads=count):
        threads.parallel_for(list(range(9)), lambda _: seen.add(threading.get_ident()), threads=8)
    assert seen == {threading.get_ident()}


def test_parallel_false_stays_in_this_thread():
    seen = set()
    with config.set(threads=4):
        threads.parallel_for(
            list(range(9)), lambda _: seen.add(threading.get_ident()), parallel=False
        )
    assert seen == {threading.get_ident()}


def test_work_within_work_stays_in_its_thread():
    outer = {}

    def work(task):
        inner = set()
        threads.parallel_for([0, 1, 2], lambda _: inner.add(threading.get_ident()))
        outer[task] = (threading.get_ident(), inner)

    with config.set(threads=2):
        threads.parallel_for([0, 1], work)
    assert all(inner == {thread} for thread, inner in outer.values())


def test_the_first_failure_is_raised_after_all_have_come_to_rest():
    active = []

    def work(task):
        active.append(task)
        time.sleep(0.01)
        active.remove(task)
        if task == 3:
            raise ZeroDivisionError("task 3")

    with config.set(threads=2), pytest.raises(ZeroDivisionError, match="task 3"):
        # Tasks are created as late as possible: only a failure ends the loop.
        threads.parallel_for(itertools.count(), work)
    assert active == []


def test_requests_may_be_more_than_processors():
    gate = threading.Barrier(20, timeout=PATIENCE)
    with config.set(threads=2):
        threads.parallel_for(list(range(20)), lambda _: gate.wait(), threads=20)
    assert not gate.broken


@pytest.mark.parametrize(
    ("seconds", "pieces", "several"), [(0.01, 1, True), (0, 1, False), (0.01, 1000, False)]
)
def test_whether_threads_pay_is_tried(seconds, pieces, several, monkeypatch):
    seen = []
    clock = itertools.count(0, seconds)  # as if each task took so long
    monkeypatch.setattr(threads, "perf_counter", lambda: next(clock))
    gate = threading.Barrier(2, timeout=PATIENCE)

    def work(task):
        if several and task in (4, 5):  # the first ones after those that are timed
            gate.wait()
        seen.append(threading.get_ident())

    with config.set(threads=2):
        threads.parallel_for(iter(range(20)), work, None, pieces=pieces)
    assert len(seen) == 20
    assert (len(set(seen)) > 1) is several


def test_a_child_of_a_fork_makes_threads_of_its_own():
    with config.set(threads=2):
        threads.parallel_for([0, 1], lambda _: time.sleep(0.01))
        child = os.fork()
        if not child:
            done = []
            threads.parallel_for(list(range(50)), done.append)
            os._exit(0 if len(done) == 50 else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_work_is_done_while_the_interpreter_ends():
    script = """
import atexit, threading
from zarr_core.config import config
from zarr_core import threads
config.set(threads=4)
threads.parallel_for([1, 2], lambda _: None)
done = []
def late():
    threads.parallel_for(list(range(30)), done.append)
    print(len(done))
atexit.register(late)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("30\n", "")


def test_interrupts_at_any_moment_leave_the_threads_in_order():
    """An interrupt can occur between any two instructions, also when a task is submitted."""
    script = """
import signal
from zarr_core.config import config
from zarr_core import threads
config.set(threads=4)
signal.signal(signal.SIGALRM, signal.default_int_handler)
active, caught, stuck = [], 0, 0

def work(task):
    active.append(task)
    active.pop()

while caught < 300:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + caught % 97 * 1e-5)
        while True:
            threads.parallel_for(range(20), work, True, 8)
    except KeyboardInterrupt:
        caught += 1
        assert not active
        stuck += threads._local.sharing
signal.setitimer(signal.ITIMER_REAL, 0)
assert not stuck, stuck
for _ in range(100):
    done = []
    threads.parallel_for(range(50), done.append, True, 8)
    assert sorted(done) == list(range(50))
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")


@pytest.mark.skipif(sys.version_info < (3, 13), reason="destroy() refuses if there are threads")
def test_an_interpreter_within_another_ends():
    """A subinterpreter that ends with running threads ends the whole process."""
    script = """
import _interpreters as interpreters
inner = interpreters.create("legacy")
interpreters.run_string(inner, '''if True:
    import warnings
    warnings.simplefilter("ignore")  # NumPy warns
    from zarr_core import threads
    done = []
    threads.parallel_for(list(range(30)), done.append, True, 4)
    print(len(done), flush=True)
''')
interpreters.destroy(inner)
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("30\nfine\n", "")


def test_who_waits_for_requests_hears_of_some_before_all_are_done():
    done = []
    found = threads.concurrent_map(range(100), lambda number: done.append(number) or -number, 2)
    assert not done
    assert next(found) == (0, 0)
    assert 2 <= len(done) < 100
    assert list(found) == [(number, -number) for number in range(1, 100)]
    assert sorted(done) == list(range(100))
