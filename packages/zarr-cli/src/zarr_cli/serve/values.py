"""Answering for one stored value, or a part of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, StoreKeyError, check_key

from zarr_cli.serve.answers import Answer, RefusedError
from zarr_cli.serve.conditions import (
    entity_tag,
    is_another,
    is_known,
    range_applies,
    tells_version,
)
from zarr_cli.serve.ranges import UnsatisfiableRangeError, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import Store, ValueReader

_PIECE = 1 << 20  # bytes that are read, then sent

# The documents of all formats; whatever else is stored is bytes.
_DOCUMENTS = frozenset(
    {
        "zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", ".zmetadata_v2",
        "attributes.json", "meta", "attrs",
    }
)  # fmt: skip


def content_type(key: str) -> str:
    """The media type of a value; JSON documents are told by their keys."""
    name = key.rpartition("/")[2]
    if name in _DOCUMENTS or name.endswith((".array.json", ".group.json")):
        return "application/json"
    return "application/octet-stream"


def value_answer(store: Store, key: str, headers: Mapping[str, str], *, head: bool) -> Answer:
    """Answer GET or HEAD for a value.

    Parameters
    ----------
    store : Store
        Where the value is.
    key : str
        Its key.
    headers : mapping
        The fields of the request; their names in any case.
    head : bool
        Whether only the head of the answer is wanted.

    Raises
    ------
    RefusedError
        If there is no such value, the key is none, or no byte is in the range.
    """
    try:
        check_key(key)
    except StoreKeyError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, error.reason) from error
    before = reader = None
    if tells_version(store):
        before = store.version(key)
    if before is not None or not tells_version(store):  # a directory has no version
        reader = store.open_value(key, None if head else _first(headers.get("Range")))
    if reader is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, f"nothing is stored at {key!r}")
    try:
        answer = _opened(store, key, headers, reader, before, head=head)
    except BaseException:
        reader.close()
        raise
    if answer.close is None:
        reader.close()
    return answer


def _opened(
    store: Store,
    key: str,
    headers: Mapping[str, str],
    reader: ValueReader,
    before: str | None,
    *,
    head: bool,
) -> Answer:
    tag = entity_tag(store, key, reader, before)
    fields = {"Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    if tag is not None:
        fields["ETag"] = tag
    if is_another(headers, tag):
        raise RefusedError(
            HTTPStatus.PRECONDITION_FAILED, "the value is another one by now", fields
        )
    if is_known(headers, tag):
        return Answer(HTTPStatus.NOT_MODIFIED, fields)
    size, part = reader.size, None
    if not head and range_applies(headers, tag):  # a range means something with GET only
        try:
            part = part_of(headers.get("Range"), size)
        except UnsatisfiableRangeError:
            raise RefusedError(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                f"the value has {size} bytes, and the range none of them",
                {**fields, "Content-Range": f"bytes */{size}"},
            ) from None
    fields["Content-Type"] = content_type(key)
    if head:
        return Answer(HTTPStatus.OK, fields, length=size)
    if part is None:
        return Answer(HTTPStatus.OK, fields, _pieces(reader, 0, size), size, reader.close)
    start, stop = part
    fields["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return Answer(
        HTTPStatus.PARTIAL_CONTENT,
        fields,
        _pieces(reader, start, stop),
        stop - start,
        reader.close,
    )


def _first(header: str | None) -> ByteRange:
    """What will be read first, as far as that can be told without the value's size."""
    whole = ByteRange(0, _PIECE)
    if header is None or not header.startswith("bytes="):
        return whole
    first, dash, last = header[len("bytes=") :].strip().partition("-")
    if not dash or not (first or last).isdecimal() or len(first + last) > 38:
        return whole
    if not first:
        return ByteRange(-min(int(last), _PIECE)) if int(last) else whole
    length = int(last) + 1 - int(first) if last.isdecimal() else _PIECE
    return ByteRange(int(first), min(length, _PIECE)) if length > 0 else whole


def _pieces(reader: ValueReader, start: int, stop: int) -> Iterator[memoryview]:
    for at in range(start, stop, _PIECE):
        yield reader.read(at, min(_PIECE, stop - at))
