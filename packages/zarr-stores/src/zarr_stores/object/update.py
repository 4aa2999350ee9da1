"""Read-modify-write of objects, exactly once even if responses of the service are lost.

A conditional write cannot simply be repeated: if the first one succeeded and only its response
was lost, the second one fails, because it finds the object of the first.  Therefore the metadata
of each new object contains marks of the last changes, by which a writer recognizes its own.
"""

from __future__ import annotations

from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import ByteReader, StoreError, ValueReplacedError
from zarr_core.interfaces.store import SetIfMissing
from zarr_core.messages import log

from zarr_stores._attempts import Attempts
from zarr_stores.object import errors as errors
from zarr_stores.object.reader import ObjectReader
from zarr_stores.object.response import generation_of

if TYPE_CHECKING:
    from zarr_core.extension import Buffers, Change

    from zarr_stores.object.client import Client

MARKS: Final = "zarrchanges"  # letters only: Azure requires identifiers
_KEPT: Final = 64  # marks; S3 limits all metadata to 2 KiB
_MAX_ATTEMPTS: Final = 100  # attempts of a change, in case of conflicts
_RETRIES: Final = 10  # number of retries after lost responses, unless the store has another
_LIMIT: Final = timedelta(minutes=3)  # time limit of the retries, unless the store has another
UNKNOWN: Final = "it is unknown whether the new value was stored: check it before changing it again"


class Updates:
    """Read-modify-write of objects with concurrent writers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        config = getattr(client.store, "retry_config", None) or {}
        self._retries: int = config.get("max_retries", _RETRIES)
        self._limit: timedelta = config.get("retry_timeout", _LIMIT)

    def make(self, key: str, change: Change) -> bool:
        """Change an object; return False if the service does not support conditional writes."""
        attempts = Attempts(count=_MAX_ATTEMPTS, first=0.01, longest=0.5)
        created = isinstance(change, SetIfMissing) and change.known_missing
        if created and self._store(key, change(None), "create", ["new"]):  # type: ignore[arg-type]  # a value
            return True
        while (done := self._try(key, change)) is False:
            log("retries", "%s %r was changed by another writer; updating it again",
                self._client.location, key,
            )  # fmt: skip
            if not attempts.again():
                raise StoreError(
                    f"was replaced {_MAX_ATTEMPTS} times during an update; if there are no other "
                    "writers, the service does not support conditional writes: pass "
                    "storage_options={'conditional': False}",
                    self._client.location,
                    key,
                )
        return done is True

    def _try(self, key: str, change: Change) -> bool | None:
        """Change an object; return False after a conflict, None if conflicts cannot be detected."""
        result = self._client.get(key)
        if result is None:
            value = change(None)
            if value is None or isinstance(value, ByteReader):
                return True
            return self._store(key, value, "create", ["new"])
        meta, marks = result.meta, _marks(result)
        with ObjectReader(self._client, key, result, 1) as reader:
            try:
                value = change(reader)
            except ValueReplacedError:
                return False
        if isinstance(value, ByteReader):
            return True
        if value is None:
            return self._remove(key, meta)
        expected = {name: meta[name] for name in ("e_tag", "version") if meta.get(name)}
        if not expected:
            return None
        return self._store(key, value, expected, marks or [generation_of(meta)])

    def _remove(self, key: str, meta: Any) -> bool:
        """Remove an object if it is unchanged; return whether it was."""
        now = self._client.head(key)
        if now is not None and generation_of(now) == generation_of(meta):
            self._client.delete([key])
        return now is None or generation_of(now) == generation_of(meta)

    def _store(self, key: str, value: Buffers, mode: Any, marks: list[str]) -> bool | None:
        """Store a value if the old one is unchanged; None if the service has no conditions."""
        marks = [*marks[1 - _KEPT :], token_hex(4)]
        noted = {MARKS: " ".join(marks)}
        doubted = False
        attempts = Attempts(self._limit.total_seconds(), self._retries + 1)
        while True:
            try:
                self._client.put(key, value, mode=mode, attributes=noted)
                return True
            except Exception as error:
                if errors.is_unsupported(error):
                    return None
                doubted = doubted or errors.may_be_completed(error)
                if errors.is_conflict(error) or errors.is_missing_key(error):
                    return doubted and self._went_in(key, marks)
                repeatable = errors.is_lost(error) or errors.is_overloaded(error)
                if not repeatable or not attempts.again():
                    if doubted and self._is_there(key, marks[-1]):
                        return True
                    raise self._failure(error, key, doubted) from None

    def _went_in(self, key: str, marks: list[str]) -> bool:
        """Return whether a value was stored before the current one, or is the current one."""
        try:
            now = self._client.get(key, (0, 1))
        except StoreError as error:
            raise StoreError(f"{error.reason}; {UNKNOWN}", error.store, key) from None
        if now is None:  # removed by another writer, with this change if it was stored
            return False
        current = _marks(now)
        if marks[-1] in current:
            return True
        if marks[-2] in current:  # so the marks of all later changes are there, but not this one
            return False
        message = f"was replaced by another writer while the response was lost; {UNKNOWN}"
        raise StoreError(message, self._client.location, key)

    def _is_there(self, key: str, mark: str) -> bool:
        try:
            now = self._client.get(key, (0, 1))
        except StoreError:
            return False
        return now is not None and mark in _marks(now)

    def _failure(self, error: Exception, key: str, doubted: bool) -> StoreError:
        failure = errors.failure(StoreError, "written", error, self._client.location, key)
        return (
            StoreError(f"{failure.reason}; {UNKNOWN}", failure.store, key) if doubted else failure
        )


def _marks(result: Any) -> list[str]:
    """Return the marks of an object, the newest last; none if it was not stored by an update."""
    attributes: dict[str, str] = getattr(result, "attributes", {})
    for name, marks in attributes.items():
        if name.lower() == MARKS:
            return marks.split()
    return []
