"""Errors of sources of an import."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr_core.extension import ZarrError

if TYPE_CHECKING:
    from collections.abc import Iterator


class UnsupportedSourceError(ZarrError, ValueError):
    """An object of a source is not supported.

    Parameters
    ----------
    source : str
        The name of the object in the source.
    reason : str
        Why it is not supported, and what to do.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def _message(self) -> str:
        return f"{self.source}: {self.reason}"


class SourceReadError(UnsupportedSourceError):
    """A source, or a part of it, cannot be read, in most cases because it is damaged."""


# FileNotFoundError is the first base class: only its __new__ can create instances, also if the
# class is not called, as in distributed.
class SourceNotFoundError(FileNotFoundError, SourceReadError):
    """The file to import does not exist."""

    def __init__(self, source: str, reason: str) -> None:
        SourceReadError.__init__(self, source, reason)

    def __str__(self) -> str:
        return SourceReadError.__str__(self)


def check_exists(source: object) -> None:
    """Raise SourceNotFoundError if a source is the path of a file that does not exist."""
    if isinstance(source, str | os.PathLike) and not os.path.exists(source):
        raise SourceNotFoundError(os.fspath(source), "the file does not exist")


@contextmanager
def read_errors(source: str, what: str = "") -> Iterator[None]:
    """Raise SourceReadError for any error of a library that reads a source, unless it is a ZarrError.

    ``source`` is the file, with the member of it if there is one; ``what`` is read, such as
    ``"the attributes"``.  The libraries do not document all errors that they raise for damaged
    files: h5py raises ``KeyError``, ``RuntimeError``, ``OSError`` and ``ValueError``, SciPy
    ``IndexError``.
    """
    try:
        yield
    except (ZarrError, ImportError):
        raise
    except Exception as error:
        raise read_error(source, error, f"cannot read {what or 'it'}: {describe(error)}") from error


def read_error(source: str, error: Exception, reason: str) -> SourceReadError:
    """Return the error for a source, with a reason unless it is that of the permissions."""
    denied = isinstance(error, PermissionError)
    return SourceReadError(source, "cannot be read: permission denied" if denied else reason)


@contextmanager
def errors_of(file: str) -> Iterator[None]:
    """Add the name of a file to errors of its objects."""
    try:
        yield
    except UnsupportedSourceError as error:
        if file in error.source:
            raise
        raise type(error)(f"{file} {error.source}", error.reason) from error


def describe(error: BaseException) -> str:
    """Return the text of an error, with its class unless it is an ``OSError``."""
    text = " ".join(str(error).split())
    if not text:
        return type(error).__name__
    return text if isinstance(error, OSError) else f"{type(error).__name__}: {text}"
