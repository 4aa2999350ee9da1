"""Parts of values in memory and from file objects."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer


def copy_held(
    held: Sequence[tuple[int, Buffer]], parts: Sequence[tuple[int, memoryview]]
) -> list[tuple[int, memoryview]]:
    """Fill the buffers of parts that are in memory; return the other parts.

    Parts of both arguments are pairs of an offset and bytes.
    """
    missing = []
    for start, buffer in parts:
        end = start + len(buffer)
        for first, data in held:
            if first <= start and end <= first + len(data):
                buffer[:] = memoryview(data)[start - first : end - first]
                break
        else:
            if buffer:
                missing.append((start, buffer))
    return missing


def read_from_file(file: Any, parts: Sequence[tuple[int, memoryview]]) -> None:
    """Fill the buffers of parts from a seekable file object, which may return less than requested."""
    for start, buffer in parts:
        file.seek(start)
        done = 0
        while done < len(buffer):
            data = file.read(len(buffer) - done)
            if not data:
                raise OSError(errno.EIO, "the file is truncated")
            buffer[done : done + len(data)] = data
            done += len(data)
