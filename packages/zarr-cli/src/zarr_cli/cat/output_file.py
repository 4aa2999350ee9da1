"""Output files that are replaced only when they are complete."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_output(output: str) -> Iterator[IO[bytes]]:
    """Open a file for writing; an error leaves an existing file unchanged.

    Standard output (``-``), pipes and devices are written directly.
    """
    path = os.path.realpath(output)
    if output == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        with click.open_file(output, "wb") as stream:
            yield stream
        return
    folder, name = os.path.split(path)
    partial = os.path.join(folder, f".{name}.{os.getpid()}.partial")
    try:
        with open(partial, "xb") as file:
            yield file
        if os.path.exists(path):
            os.chmod(partial, os.stat(path).st_mode & 0o777)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
