"""The keys that a call did not store because the store failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.errors import StoreError

MAX_KEYS = 1_000_000
"""Maximum number of collected keys; a call may write more chunks than fit into memory."""


class UnconfirmedKeys:
    """Collects the keys that a call that stores many values does not store after a failure.

    After the first failure, the call adds the keys of its other tasks instead of executing them.
    If nothing fails, a task only tests ``keys``.  Several threads may add keys.
    """

    __slots__ = ("_error", "keys")

    def __init__(self) -> None:
        self.keys: list[str] = []
        """Keys whose values may not be stored; not empty after a failure."""
        self._error: StoreError | None = None

    def fail(self, keys: Iterable[str], error: StoreError) -> None:
        """Add the keys of a request that failed."""
        self._error = self._error or error
        self.keys += keys

    def skip(self, key: str) -> None:
        """Add a key that is not stored after a failure.

        Raises
        ------
        StoreError
            If there are too many keys, so that the call ends.
        """
        if len(self.keys) >= MAX_KEYS:
            self.check()
        self.keys.append(key)

    def check(self) -> None:
        """Raise the first failure, with all keys in ``unconfirmed``."""
        if self._error is not None:
            self._error.unconfirmed = tuple(dict.fromkeys(self.keys))
            raise self._error
