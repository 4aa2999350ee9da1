"""Read-modify-write of files on WebDAV servers that support conditional writes.

The value is sent with ``If-Match`` and the entity tag of the old one, or with ``If-None-Match: *`` if
there is none.  Many servers ignore these header fields, or have entity tags that do not change within
a second.  Therefore both are tried with a temporary file before the first update.
"""

from __future__ import annotations

import re
import threading
import time
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from zarr_core.extension import StoreError
from zarr_core.messages import log

from zarr_stores.object import errors as errors
from zarr_stores.object.update import UNKNOWN, Updates, pause

if TYPE_CHECKING:
    from zarr_core.extension import Buffers

    from zarr_stores.object.client import Client
    from zarr_stores.object.location import Location

_RACES: Final = 8  # attempts if several writers create a directory
_REMEDY: Final = (
    "if this process is the only writer, pass storage_options={'conditional': False}; whole chunks of "
    "existing arrays can be written without it"
)


class _Problems(NamedTuple):
    """Why a server cannot be used by several writers; empty texts if it can."""

    create: str
    change: str


_problems: dict[Location, _Problems] = {}
_probing = threading.Lock()


class WebDavUpdates(Updates):
    """Read-modify-write of files on a WebDAV server."""

    def _require(self, mode: Any, key: str) -> None:
        """Raise an error if the server does not support the condition of a request."""
        location = self._client.location
        found = _problems.get(location)
        if found is None:
            with _probing:
                found = _problems.get(location)
                if found is None:
                    found = _problems[location] = _find_problems(self._client)
        if mode == "create" and found.create:
            raise StoreError(
                f"cannot be created exclusively: {found.create}, so it could replace what another "
                f"writer creates at the same time; {_REMEDY}",
                location,
                key,
            )
        if mode != "create" and found.change:
            raise StoreError(
                f"cannot be updated: {found.change}, so changes by several writers could be lost; "
                f"{_REMEDY}",
                location,
                key,
            )

    def _store(self, key: str, value: Buffers, mode: Any, marks: list[str]) -> bool:
        self._require(mode, key)
        client = self._client.with_header(*_condition(mode))
        return self._send(key, lambda: client.put(key, value))

    def _remove(self, key: str, meta: Any) -> bool:
        self._require(meta, key)
        client = self._client.with_header(*_condition(meta))
        return self._send(key, lambda: client.remove(key))

    def _send(self, key: str, request: Any) -> bool:
        """Send a conditional request until there is a response; return whether it was met."""
        until = time.monotonic() + self._limit.total_seconds()
        doubted, races = False, 0
        for attempt in count():
            try:
                request()
                return True
            except Exception as error:
                if errors.is_conflict(error):
                    if doubted:
                        message = "was changed after the response to its update was lost"
                        raise StoreError(
                            f"{message}; {UNKNOWN}", self._client.location, key
                        ) from None
                    return False
                if errors.is_missing_key(error) and not doubted:
                    return False  # removed by another writer, or its directory was
                lost = errors.may_be_completed(error)
                doubted = doubted or lost
                races += errors.is_race(error)
                late = attempt >= self._retries or time.monotonic() > until
                again = (lost or errors.is_temporary(error)) and not late
                if not (again or (errors.is_race(error) and races < _RACES)):
                    raise self._failure(error, key, doubted) from None
                log("retries", "%s %r: %s; updating it again",
                    self._client.location, key, errors.reason(error),
                )  # fmt: skip
            pause(attempt)
        raise AssertionError("the last attempt raises")


def _condition(old: Any) -> tuple[str, str]:
    """Return the header field of a request that depends on the old file, or on its absence."""
    return ("If-None-Match", "*") if old == "create" else ("If-Match", old["e_tag"])


def _find_problems(client: Client) -> _Problems:
    """Return why conditional writes cannot be used."""
    key = f".zarr-probe-{token_hex(8)}"
    client.set(key, b"1")
    try:
        ignored = "the server ignores {} (conditional writes)"
        create = (
            ignored.format("If-None-Match") if _is_met(client, key, _condition("create")) else ""
        )
        first = client.head(key)
        tag = first and first["e_tag"]
        if not tag or tag.startswith("W/"):
            return _Problems(create, "the server has no strong entity tags")
        if _has_seconds(tag, first["last_modified"].timestamp()):
            return _Problems(create, "the entity tags of the server do not change within a second")
        if _is_met(client, key, ("If-Match", '"other"')):
            return _Problems(create, ignored.format("If-Match"))
        if not _is_met(client, key, ("If-Match", tag)):
            return _Problems(create, "the server does not support If-Match (conditional writes)")
        second = client.head(key)
        if second is None or second["e_tag"] == tag:
            return _Problems(create, "the entity tags of the server do not change with each write")
        return _Problems(create, "")
    finally:
        client.delete([key])


def _is_met(client: Client, key: str, condition: tuple[str, str]) -> bool:
    """Return whether the server replaces a file under a condition."""
    try:
        client.with_header(*condition).put(key, b"2")
    except Exception as error:
        if errors.is_conflict(error):
            return False
        raise errors.failure(StoreError, "written", error, client.location, key) from None
    return True


def _has_seconds(tag: str, modified: float) -> bool:
    """Return whether an entity tag is made of a time in whole seconds."""
    seconds = int(modified)
    return bool(
        re.search(rf"(?<![0-9a-z])(?:{seconds}|{seconds:x})(?![0-9a-z])", tag, re.IGNORECASE)
    )
