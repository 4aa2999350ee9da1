"""Reading parts of one value in PostgreSQL, all of the same version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ValueReplacedError

from zarr_stores._held_reader import HeldReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_stores.postgresql import PostgreSQLStore


class RowReader(HeldReader):
    """A large value; once it is replaced nothing more is read of it.

    Parameters
    ----------
    store, key
        Where it is.
    size : int
        Length of the value.
    version : str
        What the row is known by.
    start, held : int, bytes
        A part that is here already.
    read : callable
        Gets starts and lengths; gives the parts, or none if the version is gone.
    """

    def __init__(
        self, store: PostgreSQLStore, key: str, size: int, version: str, start: int, held: bytes,
        read: Callable[[list[int], list[int]], list[bytes]],
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, [(start, held)])
        self.version = version
        self._read = read

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        found = self._read(starts, lengths)
        if not found:
            raise ValueReplacedError("was replaced while it was read", self._store, self._key)
        return found
