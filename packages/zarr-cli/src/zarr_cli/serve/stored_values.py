"""Responses with a stored value or a byte range of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, StoreKeyError, check_key
from zarr_core.tools import MANIFEST_NAMES

from zarr_cli.serve.conditional import (
    entity_tag,
    has_cheap_generation,
    is_not_modified,
    is_precondition_failed,
    range_applies,
)
from zarr_cli.serve.ranges import UnsatisfiableRangeError, parse_range
from zarr_cli.serve.responses import HttpError, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import ByteReader, Store

_BLOCK = 1 << 20  # bytes per read

# The metadata documents of all formats; other values are binary.
_DOCUMENTS = frozenset(
    {
        "zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", ".zmetadata_v2",
        "attributes.json", "meta", "attrs",
    }
)  # fmt: skip


def is_hidden(key: str) -> bool:
    """Return whether a key has a hidden name that no format has, such as ``.env``."""
    known = (*_DOCUMENTS, *MANIFEST_NAMES)
    return any(part[:1] == "." and part not in known for part in key.split("/"))


def content_type(key: str) -> str:
    """Return the media type of a value, by its key."""
    name = key.rpartition("/")[2]
    if name in _DOCUMENTS or name.endswith((".array.json", ".group.json")):
        return "application/json"
    return "application/octet-stream"


def value_response(store: Store, key: str, headers: Mapping[str, str], *, head: bool) -> Response:
    """Respond to GET or HEAD for a value.

    Parameters
    ----------
    store : Store
        The store of the value.
    key : str
        Its key.
    headers : mapping
        The header fields of the request, with case-insensitive names.
    head : bool
        Whether the request is HEAD.

    Raises
    ------
    HttpError
        If there is no value, the key is not valid, or the range contains no byte.
    """
    try:
        check_key(key)
    except StoreKeyError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, error.reason) from error
    before = reader = None
    if has_cheap_generation(store):
        before = store.generation(key)
    if before is not None or not has_cheap_generation(store):  # directories have no generation
        reader = store.open_value(key, None if head else _first(headers.get("Range")))
    if reader is None:
        raise HttpError(HTTPStatus.NOT_FOUND, f"key {key!r} does not exist")
    try:
        response = _respond(store, key, headers, reader, before, head=head)
    except BaseException:
        reader.close()
        raise
    if response.close is None:
        reader.close()
    return response


def _respond(
    store: Store,
    key: str,
    headers: Mapping[str, str],
    reader: ByteReader,
    before: str | None,
    *,
    head: bool,
) -> Response:
    tag = entity_tag(store, key, reader, before)
    fields = {"Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    if tag is not None:
        fields["ETag"] = tag
    if is_precondition_failed(headers, tag):
        raise HttpError(HTTPStatus.PRECONDITION_FAILED, "the value has changed", fields)
    if is_not_modified(headers, tag):
        return Response(HTTPStatus.NOT_MODIFIED, fields)
    size, part = reader.size, None
    if not head and range_applies(headers, tag):  # ranges are defined for GET only
        try:
            part = parse_range(headers.get("Range"), size)
        except UnsatisfiableRangeError:
            raise HttpError(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                f"the range contains none of the {size} bytes of the value",
                {**fields, "Content-Range": f"bytes */{size}"},
            ) from None
    fields["Content-Type"] = content_type(key)
    if head:
        return Response(HTTPStatus.OK, fields, length=size)
    if part is None:
        return Response(HTTPStatus.OK, fields, _blocks(reader, 0, size), size, reader.close)
    start, stop = part
    fields["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return Response(
        HTTPStatus.PARTIAL_CONTENT,
        fields,
        _blocks(reader, start, stop),
        stop - start,
        reader.close,
    )


def _first(header: str | None) -> ByteRange:
    """Return the first range to read, as far as known without the size of the value."""
    whole = ByteRange(0, _BLOCK)
    if header is None or not header.startswith("bytes="):
        return whole
    first, dash, last = header[len("bytes=") :].strip().partition("-")
    if not dash or not (first or last).isdecimal() or len(first + last) > 38:
        return whole
    if not first:
        return ByteRange(-min(int(last), _BLOCK)) if int(last) else whole
    length = int(last) + 1 - int(first) if last.isdecimal() else _BLOCK
    return ByteRange(int(first), min(length, _BLOCK)) if length > 0 else whole


def _blocks(reader: ByteReader, start: int, stop: int) -> Iterator[memoryview]:
    for at in range(start, stop, _BLOCK):
        yield reader.read(at, min(_BLOCK, stop - at))
