"""A program for the tests: processes that write one log, some of which are killed.

Arguments: path of the log, "count" or "kill".
"""

import os
import random
import signal
import sys
import time
import traceback

from acme_log import LogStore

WRITERS, ROUNDS, KILLS = 4, 60, 30


def add_one(reader):
    return str((int(bytes(reader.read(0, reader.size))) if reader else 0) + 1).encode()


def next_number(reader):
    number = int.from_bytes(reader.read(0, 8), "little") if reader else 0
    return 3000 * (number + 1).to_bytes(8, "little")


def forked(work):
    """Run a function in a forked process, which has the parent's open files; return its id."""
    process = os.fork()
    if not process:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return process


def count(store):
    """Several processes increment a number and store other keys while one compacts the file."""

    def work():
        for number in range(ROUNDS):
            store.update("sum", add_one)
            store.set(f"{os.getpid()}/{number}", b"")

    def compact():
        while True:
            store.compact()
            time.sleep(0.003)

    store.update("sum", add_one)
    compacting = forked(compact)
    for process in [forked(work) for _ in range(WRITERS)]:
        assert os.waitpid(process, 0)[1] == 0
    os.kill(compacting, signal.SIGKILL)
    os.waitpid(compacting, 0)
    assert int(store.get("sum")) == WRITERS * ROUNDS + 1
    assert len(list(store.list())) == WRITERS * ROUNDS + 1


def kill(store):
    """After a writer is killed, a value is old or new, and never older than before."""

    def work():
        while True:
            for key in ("a", "b"):
                store.update(key, next_number)
            if random.random() < 0.1:
                store.compact()

    reached = dict.fromkeys(("a", "b"), 0)
    for _ in range(KILLS):
        processes = [forked(work) for _ in range(2)]
        time.sleep(random.random() / 20)
        for process in processes:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for key in store.list():
            value = bytes(store.get(key))
            assert value == 3000 * value[:8], f"{key} is torn"
            number = int.from_bytes(value[:8], "little")
            assert number >= reached[key], f"{key}: {number} after {reached[key]}"
            reached[key] = number
    assert all(reached.values()), reached


if __name__ == "__main__":
    {"count": count, "kill": kill}[sys.argv[2]](LogStore(sys.argv[1]))
