"""The options by which arrays get another layout."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.changing.words import (
    parse_amount,
    parse_codec,
    parse_codecs,
    parse_lengths,
    parse_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS: tuple[tuple[tuple[str, ...], str, Callable[[Any], Any], dict[str, Any]], ...] = (
    (
        ("-c", "--chunks"), "chunks", parse_lengths,
        {"metavar": "LENGTHS", "help": "Chunks: 100, 10,100,100, time=10,lat=100 or auto; "
         "all is the whole dimension."},
    ),
    (
        ("-s", "--shards"), "shards", parse_lengths,
        {"metavar": "LENGTHS", "help": "Shards, in the same words; none for no shards."},
    ),
    (
        ("-z", "--compressor"), "compressors", parse_codecs,
        {"metavar": "CODEC", "multiple": True, "help": "A codec for bytes: zstd, zstd:5, "
         "blosc:cname=lz4,clevel=5 or JSON; again for more, none for none."},
    ),
    (
        ("-f", "--filter"), "filters", parse_codecs,
        {"metavar": "CODEC", "multiple": True, "help": "A codec for elements, in the same words."},
    ),
    (
        ("--serializer",), "serializer", parse_codec,
        {"metavar": "CODEC", "help": "The codec that makes bytes of elements."},
    ),
    (
        ("-d", "--dtype"), "dtype", lambda text: parse_value(text) if text[:1] == "{" else text,
        {"metavar": "DTYPE", "help": "The data type: float32, int16, ..."},
    ),
    (
        ("--fill-value",), "fill_value", parse_value,
        {"metavar": "VALUE", "help": "What elements are that were never written: JSON or text."},
    ),
    (
        ("--chunk-key-encoding",), "chunk_key_encoding", parse_codec,
        {"metavar": "NAME", "help": "How chunks are named: default, v2, or JSON."},
    ),
)  # fmt: skip


def layout_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of layouts; those that are used come as ``layout``."""

    @wraps(function)
    def with_layout(**given: Any) -> Any:
        layout: dict[str, Any] = {}
        for _, name, parse, _ in _OPTIONS:
            value = given.pop(name)
            if value not in (None, ()):
                layout[name] = parse(value)
        return function(layout=layout, **given)

    decorated: Callable[..., Any] = with_layout
    for flags, name, _, more in reversed(_OPTIONS):
        decorated = click.option(*flags, name, **more)(decorated)
    return decorated


def memory_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--max-memory``, in bytes."""
    return click.option(
        "--max-memory",
        metavar="AMOUNT",
        callback=lambda _ctx, _param, text: None if text is None else parse_amount(text),
        help="How much memory elements and chunks may take: 500M, 2G. Refused if too little.",
    )(function)
