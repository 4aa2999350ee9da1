"""Changing an object exactly once, however many answers of the service are lost.

A write that minds what was there before cannot simply be repeated: if the first one went in and
only its answer was lost, the second one finds another object, its own.  So each new object carries
the marks of the last changes in its metadata, by which a writer knows its own afterwards.
"""

from __future__ import annotations

import random
import time
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import StoreError, ValueReader, ValueReplacedError

from zarr_stores import object_failures as failures
from zarr_stores.object_reader import ObjectReader
from zarr_stores.object_version import word

if TYPE_CHECKING:
    from zarr_core.extension import Change, Pieces

    from zarr_stores.object_client import Client

MARKS: Final = "zarrchanges"  # letters alone: Azure wants identifiers
_KEPT: Final = 64  # marks, of 2 KiB that S3 has for all metadata
_TRIES: Final = 100  # of a change, against as many other writers
_LONGEST_WAIT: Final = 0.5  # seconds between two of them
_RETRIES: Final = 10  # after lost answers, if the user has not said how many
_LIMIT: Final = timedelta(minutes=3)  # likewise how long
_UNKNOWN: Final = "whether the new value was stored is not known: look before it is changed again"


class Updates:
    """Read-modify-write of objects, where others may do the same.

    Parameters
    ----------
    client : Client
        What asks the service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        config = getattr(client.store, "retry_config", None) or {}
        self._retries: int = config.get("max_retries", _RETRIES)
        self._limit: timedelta = config.get("retry_timeout", _LIMIT)

    def make(self, key: str, change: Change) -> bool:
        """Change an object; False, and nothing was changed, if the service knows no conditions.

        Raises
        ------
        StoreError
            If others were faster each time, or if nobody can say whether the change was made.
        """
        for attempt in range(_TRIES):
            done = self._try(key, change)
            if done is not False:
                return done is True
            _pause(attempt)
        raise StoreError(
            f"was replaced {_TRIES} times while it was changed; if nobody else writes to it, the "
            "service does not understand conditions: storage_options={'conditional': False}",
            self._client.place,
            key,
        )

    def _try(self, key: str, change: Change) -> bool | None:
        """Change an object unless someone else does meanwhile; None if that cannot be known."""
        result = self._client.get(key)
        if result is None:
            value = change(None)
            if value is None or isinstance(value, ValueReader):
                return True
            return self._store(key, value, "create", ["new"])
        meta, marks = result.meta, _marks(result)
        with ObjectReader(self._client, key, result, 1, 0) as reader:
            try:
                value = change(reader)
            except ValueReplacedError:
                return False
        if isinstance(value, ValueReader):
            return True
        if value is None:
            now = self._client.head(key)
            if now is not None and word(now) == word(meta):
                self._client.delete([key])
            return now is None or word(now) == word(meta)
        expected = {name: meta[name] for name in ("e_tag", "version") if meta.get(name)}
        if not expected:
            return None
        return self._store(key, value, expected, marks or [word(meta)])

    def _store(self, key: str, value: Pieces, mode: Any, marks: list[str]) -> bool | None:
        """Store a value if what it replaces is still there; None if that cannot be asked for."""
        marks = [*marks[1 - _KEPT :], token_hex(4)]
        noted = {MARKS: " ".join(marks)}
        doubted, until = False, time.monotonic() + self._limit.total_seconds()
        for attempt in range(self._retries + 1):
            try:
                self._client.put(key, value, mode=mode, use_multipart=False, attributes=noted)
                return True
            except Exception as error:
                if failures.is_unsupported(error):
                    return None
                doubted = doubted or failures.may_be_done(error)
                if failures.is_conflict(error) or failures.is_missing_key(error):
                    return doubted and self._went_in(key, marks)
                late = attempt == self._retries or time.monotonic() > until
                if late or not failures.is_lost(error):
                    if doubted and self._is_there(key, marks[-1]):
                        return True
                    raise self._failure(error, key, doubted) from None
            _pause(attempt)
        raise AssertionError("the last attempt raises")

    def _went_in(self, key: str, marks: list[str]) -> bool:
        """Whether a value was stored in a place where something else is now, perhaps this one.

        Parameters
        ----------
        key : str
            The key.
        marks : list of str
            Of the value, after those of what it was to replace.
        """
        try:
            now = self._client.get(key, (0, 1))
        except StoreError as error:
            raise StoreError(f"{error.reason}; {_UNKNOWN}", error.store, key) from None
        if now is None:  # whoever has removed it has removed this change, if it was there
            return False
        found = _marks(now)
        if marks[-1] in found:
            return True
        if marks[-2] in found:  # and so all changes since then
            return False
        said = f"was replaced by others while the answer was lost; {_UNKNOWN}"
        raise StoreError(said, self._client.place, key)

    def _is_there(self, key: str, mark: str) -> bool:
        try:
            now = self._client.get(key, (0, 1))
        except StoreError:
            return False
        return now is not None and mark in _marks(now)

    def _failure(self, error: Exception, key: str, doubted: bool) -> StoreError:
        said = failures.failure(StoreError, "written", error, self._client.place, key)
        return StoreError(f"{said.reason}; {_UNKNOWN}", said.store, key) if doubted else said


def _marks(result: Any) -> list[str]:
    """The marks of an object, the newest one last; none if it was not stored by a change."""
    attributes: dict[str, str] = getattr(result, "attributes", {})
    for name, marks in attributes.items():
        if name.lower() == MARKS:
            return marks.split()
    return []


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(_LONGEST_WAIT, 0.01 * 2**attempt)))
