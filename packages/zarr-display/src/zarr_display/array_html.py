"""The HTML representation of an array: its properties and a drawing of its grid."""

from __future__ import annotations

import json
from math import prod
from typing import TYPE_CHECKING

from zarr_core.messages import format_bytes, pluralize

from zarr_display.attributes_html import folded_attributes
from zarr_display.codec_origins import encoders
from zarr_display.colours import WARNING
from zarr_display.grid_picture import grid_picture
from zarr_display.html import CODE, MUTED, heading, row, table, tag, text
from zarr_display.info import chunk_lengths, data_type_text, fill_value, stored_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import StoredArray

    from zarr_display.codec_origins import Encoder

_FRAME = "font-size:13px;line-height:1.5;margin:4px 0"
_BESIDE = "display:flex;flex-wrap:wrap;gap:12px 32px;align-items:flex-start"
_FIRST = "flex:1 1 380px;max-width:max-content;min-width:0"  # shrinks before it wraps
_MOST_DIMENSIONS = 12


def array_html(array: StoredArray) -> str:
    """Return the HTML of an array, without accessing the store."""
    inner = array.inner_codecs.decoded.shape if array.is_sharded else None
    picture = grid_picture([name or "" for name in _names(array)], array.axes, inner)
    notes = [tag("div", text(note), style=f"{MUTED};font-size:11px") for note in picture.notes]
    drawing = tag("div", picture.svg, *notes, style="max-width:100%")
    return tag(
        "div",
        _title(array),
        _warning(array),
        tag("div", tag("div", table(*_rows(array)), style=_FIRST), drawing, style=_BESIDE),
        folded_attributes(array.metadata.attributes),
        style=_FRAME,
    )


def _title(array: StoredArray) -> str:
    kind = f"array, {array.format.name}{', read-only' if array.read_only else ''}"
    return tag(
        "div",
        tag("b", text(array.name, 120)),
        tag("span", f" {text(kind)}", style=MUTED),
        style="font-size:14px;margin-bottom:4px",
    )


def _warning(array: StoredArray) -> str:
    if not array.ignored_extensions:
        return ""
    names = ", ".join(definition.name for definition in array.ignored_extensions)
    style = f"border-left:3px solid {WARNING};padding:2px 8px;margin:4px 0"
    message = f"Unknown extensions are ignored (must_understand is false): {text(names, 400)}."
    return tag("div", tag("b", "Read-only. "), message, style=style)


def _rows(array: StoredArray) -> Iterator[str]:
    sharded, counts = array.is_sharded, [prod(axis.count for axis in array.axes)]
    if sharded:
        inner = array.inner_codecs.decoded.shape
        lengths = zip(array.metadata.shape, inner, strict=True)
        counts.append(prod(-(-whole // part) for whole, part in lengths))
    chunk, shard = chunk_lengths(array), stored_lengths(array)
    columns = ["Array", *(["Shard"] if sharded else []), "Chunk"]
    span = len(columns)
    shapes = [_named_shape(array), *([_shape(shard)] if sharded else []), _shape(chunk)]
    size = prod(array.metadata.shape)
    sizes = [
        size * array.resolved.dtype.itemsize,
        *([_nbytes(array, shard)] if sharded else []),
        _nbytes(array, chunk),
    ]
    yield heading("", *columns)
    yield row("Shape", *map(text, shapes))
    yield row("Bytes", *("" if item is None else format_bytes(item) for item in sizes))
    yield row("Count", pluralize(size, "element"), *(f"{count:,}" for count in counts))
    yield row("Data type", text(data_type_text(array)), span=span)
    yield row("Fill value", text(fill_value(array), 80), span=span)
    yield row("Encoded by", "".join(map(_encoder, encoders(array))), span=span)
    store = f"{type(array.store).__name__} {array.store}"
    yield row("Store", tag("span", text(store), style="word-break:break-all"), span=span)


def _encoder(codec: Encoder) -> str:
    options = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in codec.configuration.items()
        if not isinstance(value, dict | list) or name == "order"
    )
    label = codec.name + (f"({options})" if options else "")
    configuration = json.dumps(codec.configuration, ensure_ascii=False)
    title = f"{codec.name} {configuration}: {codec.origin}"[:600]
    style = "padding-left:1.2em" if codec.within_shard else None
    name = tag("span", text(label, 120), style=CODE)
    return tag(
        "div",
        name,
        tag("span", f" by {text(codec.origin, 160)}", style=MUTED),
        title=title,
        style=style,
    )


def _named_shape(array: StoredArray) -> str:
    parts = (
        f"{name[:40]}: {length:,}" if name else f"{length:,}"
        for name, length in zip(_names(array), array.metadata.shape, strict=True)
    )
    return _joined([*parts])


def _names(array: StoredArray) -> tuple[str | None, ...]:
    return array.metadata.dimension_names or (None,) * len(array.metadata.shape)


def _shape(shape: tuple[int | str, ...]) -> str:
    return _joined([f"{item:,}" if isinstance(item, int) else item for item in shape])


def _joined(parts: list[str]) -> str:
    more = ["…"] if len(parts) > _MOST_DIMENSIONS else []
    return " x ".join([*parts[:_MOST_DIMENSIONS], *more]) or "()"


def _nbytes(array: StoredArray, shape: tuple[int | str, ...]) -> int | None:
    """Return the size of a chunk in bytes; None if chunks differ."""
    lengths = [item for item in shape if isinstance(item, int)]
    return prod(lengths) * array.resolved.dtype.itemsize if len(lengths) == len(shape) else None
