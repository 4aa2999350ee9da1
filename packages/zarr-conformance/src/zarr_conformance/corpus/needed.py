"""Which extensions a case takes, as its own document names them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case

_CORE = {
    "codec": {"bytes", "blosc", "crc32c", "gzip", "sharding_indexed", "transpose"},
    "chunk_grid": {"regular"},
    "chunk_key_encoding": {"default"},  # nobody has to have "v2"
    "data_type": {
        *("bool", "complex64", "complex128", "float16", "float32", "float64"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    },
}


def with_needs(case: Case) -> Case:
    """The case, needing what its document names beside what it says itself.

    Whoever does not know an extension refuses whatever names it, so that a refusal proves
    nothing about them.
    """
    found = dict.fromkeys((*case.needs, *_named(_document(case))))
    return replace(case, needs=tuple(found))


def _document(case: Case) -> Any:
    if case.document is not None:
        return case.document
    key = f"{case.path}/zarr.json" if case.path else "zarr.json"
    with suppress(KeyError, ValueError, RecursionError):
        return json.loads(case.store[key])
    return None


def _named(document: Any) -> Iterator[str]:
    if not isinstance(document, dict):
        return
    for kind in ("data_type", "chunk_grid", "chunk_key_encoding"):
        yield from _extension(kind, document.get(kind))
    yield from _codecs(document)


def _codecs(holder: Any) -> Iterator[str]:
    """Codecs of an array, or of a codec that has codecs of its own."""
    listed = holder.get("codecs") if isinstance(holder, dict) else None
    for definition in listed if isinstance(listed, list) else ():
        yield from _extension("codec", definition)
        if isinstance(definition, dict):
            yield from _codecs(definition.get("configuration"))


def _extension(kind: str, definition: Any) -> Iterator[str]:
    name = definition.get("name") if isinstance(definition, dict) else definition
    raw_bits = kind == "data_type" and isinstance(name, str) and name[1:].isdecimal()
    if isinstance(name, str) and name not in _CORE[kind] and not raw_bits:
        yield f"{kind}:{name}"
