"""Invalid stored arrays, written without the library, and processes that are killed or write concurrently."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zarr_core as zarr

if TYPE_CHECKING:
    from collections.abc import Callable

LEAVE_OUT = object()

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def document(**changes: Any) -> dict[str, Any]:
    """The metadata document of a 4 x 4 array of uint8 in chunks of 2 x 2 with the fill value 7."""
    members: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 4],
        "data_type": "uint8",
        "chunk_grid": regular(2, 2),
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 7,
        "codecs": [{"name": "bytes"}],
        "attributes": {},
    }
    members |= changes
    return {name: value for name, value in members.items() if value is not LEAVE_OUT}


def regular(*shape: int) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


def sharded(*chunk_shape: int, codecs=None, index_codecs=None, location="end") -> dict[str, Any]:
    return codec(
        "sharding_indexed",
        chunk_shape=list(chunk_shape),
        codecs=codecs or [codec("bytes")],
        index_codecs=index_codecs or [LITTLE, codec("crc32c")],
        index_location=location,
    )


def put(root: Path, key: str, value: bytes) -> None:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value)


def stored(root: Path, metadata: Any, chunks: dict[str, bytes] | None = None, **how: Any):
    """Write a metadata document and chunks, and open the array."""
    if not isinstance(metadata, bytes):
        metadata = json.dumps(metadata).encode()
    put(root, "zarr.json", metadata)
    for key, value in (chunks or {}).items():
        put(root, key, value)
    return zarr.open_array(root, **{"mode": "r+", **how})


def everything(root: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def run(
    code: str, *arguments: Any, timeout: float | None = None, check: bool = True, **options: Any
):
    """Run code in a new interpreter; return its output."""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        **options,
    )
    if check:
        assert result.returncode == 0, result.stdout + result.stderr
    return result


def is_killed(work: Callable[[], object], seconds: float) -> bool:
    """Run a function in a forked process, which is killed after some time.

    Returns
    -------
    bool
        False if the function returned before; an error of the function fails the test.
    """
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "it failed by itself"
    return os.WIFSIGNALED(status)


def together(
    program: str, *arguments: Any, processes: int, meanwhile: Callable[[], object] | None = None
) -> list[list[str]]:
    """Run a program of this folder in several processes concurrently.

    The last argument of each is its number.

    Returns
    -------
    list of list of str
        The lines that each process prints.
    """
    path = Path(__file__).with_name(program)
    command = [sys.executable, "-X", "faulthandler", str(path), *map(str, arguments)]
    with ExitStack() as stack:
        writers = []
        for number in range(processes):
            writer = subprocess.Popen(
                [*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.enter_context(writer)
            stack.callback(writer.kill)
            writers.append(writer)
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        while meanwhile is not None and any(writer.poll() is None for writer in writers):
            meanwhile()
        lines = [writer.communicate()[0].splitlines() for writer in writers]
        assert not any(writer.returncode for writer in writers)
    return lines
