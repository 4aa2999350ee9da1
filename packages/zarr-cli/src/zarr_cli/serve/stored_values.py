"""Responses with a stored value or a byte range of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from zarr_core.extension import ByteRange, StoreKeyError, check_key
from zarr_core.names import MANIFEST_NAME

from zarr_cli.serve.conditional import (
    entity_tag,
    has_cheap_generation,
    is_not_modified,
    is_precondition_failed,
    range_applies,
)
from zarr_cli.serve.ranges import UnsatisfiableRangeError, parse_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request
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
    known = (*_DOCUMENTS, MANIFEST_NAME)
    return any(part[:1] == "." and part not in known for part in key.split("/"))


def content_type(key: str) -> str:
    """Return the media type of a value, by its key."""
    name = key.rpartition("/")[2]
    if name in _DOCUMENTS or name.endswith((".array.json", ".group.json")):
        return "application/json"
    return "application/octet-stream"


def value_response(store: Store, key: str, request: Request) -> Response:
    """Respond to GET or HEAD for a value."""
    try:
        check_key(key)
    except StoreKeyError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, error.reason) from error
    is_head = request.method == "HEAD"
    before = reader = None
    if has_cheap_generation(store):
        before = store.generation(key)
    if before is not None or not has_cheap_generation(store):  # directories have no generation
        first = None if is_head else _first(request.headers.get("Range"))
        reader = store.open_value(key, first)
    if reader is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"key {key!r} does not exist")
    try:
        tag = entity_tag(store, key, reader, before)
        response = _respond(key, request.headers, reader, tag, is_head=is_head)
    except BaseException:
        reader.close()
        raise
    if not isinstance(response, StreamingResponse):
        reader.close()
    return response


def _respond(
    key: str, headers: Mapping[str, str], reader: ByteReader, tag: str | None, *, is_head: bool
) -> Response:
    fields = {"Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    if tag is not None:
        fields["ETag"] = tag
    if is_precondition_failed(headers, tag):
        raise HTTPException(HTTPStatus.PRECONDITION_FAILED, "the value has changed", fields)
    if is_not_modified(headers, tag):
        return Response(None, HTTPStatus.NOT_MODIFIED, fields)
    size, part = reader.size, None
    if not is_head and range_applies(headers, tag):  # ranges are defined for GET only
        try:
            part = parse_range(headers.get("Range"), size)
        except UnsatisfiableRangeError:
            raise HTTPException(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                f"the range contains none of the {size} bytes of the value",
                {**fields, "Content-Range": f"bytes */{size}"},
            ) from None
    start, stop = part or (0, size)
    fields |= {"Content-Length": str(stop - start), "Content-Type": content_type(key)}
    if is_head:
        return Response(None, HTTPStatus.OK, fields)
    if part is not None:
        fields["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    status = HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT
    return StreamingResponse(_blocks(reader, start, stop), status, fields)


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
    with reader:
        for at in range(start, stop, _BLOCK):
            yield reader.read(at, min(_BLOCK, stop - at))
