"""A child process with a time limit that reads HDF5 and NetCDF files.

libhdf5 can hang or crash on a damaged file.  A thread that hangs cannot be stopped, but a
process can.  Parent and child exchange messages over a connection, and the child inherits
nothing else.  This protects against hangs and crashes.  It is not a sandbox.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from zarr_import._h5py import import_h5py
from zarr_import.errors import SourceReadError, UnsupportedSourceError, check_exists
from zarr_import.source import open_source, source_name
from zarr_import.variable import Contents, SourceGroup, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from zarr_import.hdf5_tree import PathFilter
    from zarr_import.variable import ListedChunks

_START_SECONDS = 120.0  # to start Python and import the libraries
_END_SECONDS = 5.0
_LOCAL = frozenset({"read", "stored", "close"})  # fields of a variable that stay in the child
_MAIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from zarr_import.reader_process import serve; serve(int(sys.argv[1]))"
)


@contextmanager
def open_in_process(
    source: Any,
    group: str,
    path_filter: PathFilter,
    max_memory: int,
    timeout: float,
    *,
    external: bool,
) -> Iterator[tuple[Contents, list[UnsupportedSourceError]]]:
    """Open a file in a child process, as :func:`zarr_import.source.open_source` does.

    If the child process does not answer within ``timeout`` seconds, it is killed.  This function,
    and those of the contents, then raise SourceReadError, also if it exits without an answer.
    """
    seconds = float(timeout)
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"timeout must be a number of seconds greater than 0, not {timeout!r}")
    if not isinstance(source, str | os.PathLike):
        raise UnsupportedSourceError(
            source_name(source),
            "timeout= reads the file in another process, which requires a path, not an open file",
        )
    check_exists(source)
    process = ReaderProcess(os.path.abspath(source), seconds)
    try:
        nodes, left_out, problems = process.request(
            "the list of objects",
            "open",
            source_name(source),
            group,
            path_filter,
            max_memory,
            external,
        )
        contents = Contents(
            [
                node if isinstance(node, SourceGroup) else _variable(process, number, *node)
                for number, node in enumerate(nodes)
            ],
            left_out,
        )
        yield contents, problems
    finally:
        process.end()


class ReaderProcess:
    """A child process that reads one file, and has some seconds to answer.

    Requests of several threads are answered one after the other, as by h5py itself.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._lock = threading.Lock()
        self._failure: SourceReadError | None = None
        from multiprocessing.connection import Pipe  # slow to import

        self._connection, other = Pipe()
        command = [sys.executable, "-c", _MAIN, str(other.fileno()), json.dumps(sys.path)]
        try:
            with other:
                # In a new session, so that only the parent receives Ctrl-C and ends the child.
                self._process = subprocess.Popen(
                    command, pass_fds=(other.fileno(),), start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                )  # fmt: skip
        except OSError as error:
            self._connection.close()
            reason = f"cannot start the process that reads the file: {error}"
            raise SourceReadError(path, reason) from error
        try:
            self._answer("the libraries", _START_SECONDS)
        except BaseException:
            self.end()
            raise

    def request(self, what: str, *message: Any) -> Any:
        """Return the answer of the child; ``what`` describes the request in errors."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            return self._answer(what, self._timeout, message)

    def _answer(self, what: str, seconds: float, message: tuple[Any, ...] | None = None) -> Any:
        try:
            if message is not None:
                self._connection.send(message)
            if not self._connection.poll(seconds):
                raise self._failed(
                    f"the library that reads it did not answer within {seconds:g} s while "
                    f"reading {what}; the file may be damaged. Pass a larger timeout= if reading "
                    "is only slow"
                )
            answered, value = self._connection.recv()
        except (EOFError, OSError) as error:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
            reason = (
                f"the process that reads it ended with status {self._process.returncode} while "
                f"reading {what}; the file may be damaged"
            )
            raise self._failed(reason) from error
        if not answered:
            raise value
        return value

    def _failed(self, reason: str) -> SourceReadError:
        self._failure = SourceReadError(self._path, reason)
        self.end()
        return self._failure

    def end(self) -> None:
        """Kill the process, which may hang."""
        self._connection.close()
        self._process.kill()
        # A process that waits for a network file system ends later.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


class ReaderChunks:
    """The stored chunks of a variable of the child, by its position and name."""

    def __init__(self, process: ReaderProcess, number: int, source: str, complete: bool) -> None:
        self.complete = complete
        self._source = source
        self._process, self._number = process, number

    def listed(self) -> ListedChunks:
        """Return the chunks that can be copied, and those that have to be decoded."""
        what = f"the index of the chunks of {self._source}"
        listed: ListedChunks = self._process.request(what, "listed", self._number)
        return listed

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk."""
        read: bytes = self._process.request(
            f"chunk {chunk} of {self._source}", "chunk", self._number, chunk
        )
        return read


def _variable(
    process: ReaderProcess, number: int, values: dict[str, Any], complete: bool | None
) -> Variable:
    source = values["source"]
    return Variable(
        **values,
        read=lambda box: process.request(f"elements of {source}", "read", number, box),
        stored=None if complete is None else ReaderChunks(process, number, source, complete),
        close=lambda: process.request(f"the end of {source}", "close", number),
    )


# --- the child ---


def serve(descriptor: int) -> None:
    """Answer requests on an inherited connection until it is closed."""
    from multiprocessing.connection import Connection

    with Connection(descriptor) as connection:
        with suppress(ImportError):  # NetCDF 3 does not need h5py
            import_h5py()
        connection.send((True, None))
        with suppress(EOFError, ConnectionError):
            _serve_file(connection)


def _serve_file(connection: Connection) -> None:
    _, source, group, path_filter, max_memory, external = connection.recv()
    try:
        with open_source(source, group, path_filter, max_memory, external=external) as (
            contents,
            problems,
        ):
            nodes = [_description(node) for node in contents.nodes]
            connection.send((True, (nodes, contents.left_out, problems)))
            while True:
                what, number, *arguments = connection.recv()
                variable = contents.nodes[number]
                assert isinstance(variable, Variable), "only variables are read"
                try:
                    answer = (True, _answer_for(variable, what, *arguments))
                except Exception as error:
                    answer = (False, _picklable(error))
                connection.send(answer)
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        connection.send((False, _picklable(error)))


def _answer_for(variable: Variable, what: str, *arguments: Any) -> Any:
    if what == "read":
        return variable.read(*arguments)
    if what == "close":
        variable.close()
        return None
    stored = variable.stored
    assert stored is not None, "only stored chunks are read"
    return stored.read(*arguments) if what == "chunk" else stored.listed()


def _description(node: SourceGroup | Variable) -> Any:
    if isinstance(node, SourceGroup):
        return node
    values = {f.name: getattr(node, f.name) for f in fields(node) if f.name not in _LOCAL}
    return values, None if node.stored is None else node.stored.complete


def _picklable(error: Exception) -> Exception:
    """Return the error, or one with the same text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
