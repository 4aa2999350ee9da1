"""The options for the layout of arrays."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.modify.arguments import (
    parse_codec,
    parse_codecs,
    parse_lengths,
    parse_size,
    parse_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS: tuple[tuple[tuple[str, ...], str, Callable[[Any], Any], dict[str, Any]], ...] = (
    (
        ("-c", "--chunks"), "chunks", parse_lengths,
        {"metavar": "LENGTHS", "help": "Chunk lengths: 100, 10,100,100, time=10,lat=100 or auto; "
         "all is the whole dimension."},
    ),
    (
        ("-s", "--shards"), "shards", parse_lengths,
        {"metavar": "LENGTHS", "help": "Shard lengths, as for --chunks; none for no shards."},
    ),
    (
        ("-z", "--compressor"), "compressors", parse_codecs,
        {"metavar": "CODEC", "multiple": True, "help": "A compressor: zstd, zstd:5, "
         "blosc:cname=lz4,clevel=5, JSON, or none. Can be repeated."},
    ),
    (
        ("-f", "--filter"), "filters", parse_codecs,
        {"metavar": "CODEC", "multiple": True, "help": "A filter (array -> array codec), "
         "as for --compressor."},
    ),
    (
        ("--serializer",), "serializer", parse_codec,
        {"metavar": "CODEC", "help": "The serializer (array -> bytes codec)."},
    ),
    (
        ("-d", "--dtype"), "dtype", lambda text: parse_value(text) if text[:1] == "{" else text,
        {"metavar": "DTYPE", "help": "The data type: float32, int16, ..."},
    ),
    (
        ("--fill-value",), "fill_value", parse_value,
        {"metavar": "VALUE", "help": "The fill value: JSON or text."},
    ),
    (
        ("--chunk-key-encoding",), "chunk_key_encoding", parse_codec,
        {"metavar": "NAME", "help": "The chunk key encoding: default, v2, or JSON."},
    ),
)  # fmt: skip


def layout_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the layout options; those in use are passed as the argument ``layout``."""

    @wraps(function)
    def with_layout(**arguments: Any) -> Any:
        layout: dict[str, Any] = {}
        for _, name, parse, _ in _OPTIONS:
            value = arguments.pop(name)
            if value not in (None, ()):
                layout[name] = parse(value)
        return function(layout=layout, **arguments)

    decorated: Callable[..., Any] = with_layout
    for flags, name, _, more in reversed(_OPTIONS):
        decorated = click.option(*flags, name, **more)(decorated)
    return decorated


def memory_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option ``--max-memory``, passed in bytes."""
    return click.option(
        "--max-memory",
        metavar="SIZE",
        callback=lambda _ctx, _param, text: None if text is None else parse_size(text),
        help="Memory limit for elements and chunks: 500M, 2G. An error if it is too low.",
    )(function)
