"""A child process with a time limit that reads HDF5 and NetCDF files.

libhdf5 can hang or crash on a damaged file.  A thread that hangs cannot be stopped, but a
process can.  Parent and child exchange pickled messages over a socket, and the child inherits
nothing else.  This protects against hangs and crashes.  It is not a sandbox.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import socket
import struct
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

    from zarr_import.hdf5_tree import PathFilter

_START_SECONDS = 120.0  # to start Python and import the libraries
_END_SECONDS = 5.0
_NUMBER = struct.Struct("<Q")
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

    Parameters
    ----------
    timeout : float
        Seconds to wait for an answer before the child process is killed.

    Raises
    ------
    SourceReadError
        If the child process does not answer in time, or exits without an answer.  The
        functions of the contents raise it, too.
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
    """A child process that reads one file.

    Parameters
    ----------
    path : str
        The file.
    timeout : float
        Seconds to wait for an answer.

    Notes
    -----
    Requests of several threads are answered one after the other, as by h5py itself.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._lock = threading.Lock()
        self._failure: SourceReadError | None = None
        self._socket, other = socket.socketpair()
        command = [sys.executable, "-c", _MAIN, str(other.fileno()), json.dumps(sys.path)]
        try:
            with other:
                # In a new session, so that only the parent receives Ctrl-C and ends the child.
                self._process = subprocess.Popen(
                    command, pass_fds=(other.fileno(),), start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                )  # fmt: skip
        except OSError as error:
            self._socket.close()
            reason = f"cannot start the process that reads the file: {error}"
            raise SourceReadError(path, reason) from error
        try:
            self._socket.settimeout(_START_SECONDS)
            self._answer("the libraries")
        except BaseException:
            self.end()
            raise
        self._socket.settimeout(timeout)

    def request(self, what: str, *message: Any) -> Any:
        """Return the answer of the child; ``what`` describes the request in errors."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            return self._answer(what, message)

    def _answer(self, what: str, message: tuple[Any, ...] | None = None) -> Any:
        try:
            if message is not None:
                _send(self._socket, message)
            answered, value = _receive(self._socket)
        except TimeoutError as error:
            reason = (
                f"the library that reads it did not answer within {self._timeout:g} s while "
                f"reading {what}; the file may be damaged. Pass a larger timeout= if reading is "
                "only slow"
            )
            raise self._failed(reason) from error
        except (EOFError, ConnectionError) as error:
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
        self._socket.close()
        self._process.kill()
        # A process that waits for a network file system ends later.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


class ReaderChunks:
    """The stored chunks of a variable of the child.

    Parameters
    ----------
    process : ReaderProcess
        The child.
    number : int
        The position of the variable in the contents.
    source : str
        Its name in the file.
    complete : bool
        Whether all chunks are stored.
    """

    def __init__(self, process: ReaderProcess, number: int, source: str, complete: bool) -> None:
        self.complete = complete
        self._source = source
        self._process, self._number = process, number
        self._listed: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] | None = None

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self._both()[0])

    def chunks_to_decode(self) -> list[tuple[int, ...]]:
        """Return the chunk coordinates of the chunks that have to be decoded."""
        return self._both()[1]

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk."""
        read: bytes = self._process.request(
            f"chunk {chunk} of {self._source}", "chunk", self._number, chunk
        )
        return read

    def _both(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        if self._listed is None:
            what = f"the index of the chunks of {self._source}"
            self._listed = self._process.request(what, "chunks", self._number)
        return self._listed


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
    """Answer requests on an inherited socket until it is closed."""
    with socket.socket(fileno=descriptor) as connection:
        with suppress(ImportError):  # NetCDF 3 does not need h5py
            import_h5py()
        _send(connection, (True, None))
        with suppress(EOFError, ConnectionError):
            _serve_file(connection)


def _serve_file(connection: socket.socket) -> None:
    _, source, group, path_filter, max_memory, external = _receive(connection)
    try:
        with open_source(source, group, path_filter, max_memory, external=external) as (
            contents,
            problems,
        ):
            nodes = [_description(node) for node in contents.nodes]
            _send(connection, (True, (nodes, contents.left_out, problems)))
            while True:
                what, number, *arguments = _receive(connection)
                variable = contents.nodes[number]
                assert isinstance(variable, Variable), "only variables are read"
                try:
                    answer = (True, _answer_for(variable, what, *arguments))
                except Exception as error:
                    answer = (False, _picklable(error))
                _send(connection, answer)
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        _send(connection, (False, _picklable(error)))


def _answer_for(variable: Variable, what: str, *arguments: Any) -> Any:
    if what == "read":
        return variable.read(*arguments)
    if what == "close":
        variable.close()
        return None
    stored = variable.stored
    assert stored is not None, "only stored chunks are read"
    return stored.read(*arguments) if what == "chunk" else ([*stored], stored.chunks_to_decode())


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


# --- messages ---


def _send(connection: socket.socket, message: Any) -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(message, 5, buffer_callback=buffers.append)
    parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    lengths = [len(parts), *(part.nbytes for part in parts)]
    connection.sendall(b"".join(map(_NUMBER.pack, lengths)))
    for part in parts:
        connection.sendall(part)


def _receive(connection: socket.socket) -> Any:
    (count,) = _NUMBER.unpack(_exactly(connection, _NUMBER.size))
    lengths = _exactly(connection, count * _NUMBER.size)
    parts = [_exactly(connection, length) for (length,) in _NUMBER.iter_unpack(lengths)]
    return pickle.loads(parts[0], buffers=parts[1:])


def _exactly(connection: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    rest = memoryview(data)
    while rest.nbytes:
        received = connection.recv_into(rest)
        if not received:
            raise EOFError
        rest = rest[received:]
    return data
