"""Extensions that a case requires, found in its metadata."""

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
    "chunk_key_encoding": {"default"},  # "v2" is optional
    "data_type": {
        *("bool", "complex64", "complex128", "float16", "float32", "float64"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    },
}


def add_required_extensions(case: Case) -> Case:
    """Return the case with the extensions in its metadata added to its ``needs``.

    An implementation rejects metadata with an unknown extension for that reason alone, so the
    error does not show that it conforms to the clauses of the extension.
    """
    names = dict.fromkeys((*case.needs, *_required(_metadata(case))))
    return replace(case, needs=tuple(names))


def _metadata(case: Case) -> Any:
    if case.document is not None:
        return case.document
    key = f"{case.path}/zarr.json" if case.path else "zarr.json"
    with suppress(KeyError, ValueError, RecursionError):
        return json.loads(case.store[key])
    return None


def _required(metadata: Any) -> Iterator[str]:
    if not isinstance(metadata, dict):
        return
    for point in ("data_type", "chunk_grid", "chunk_key_encoding"):
        yield from _extension(point, metadata.get(point))
    yield from _codecs(metadata)


def _codecs(holder: Any) -> Iterator[str]:
    """Yield the codecs of an array, or of a codec with inner codecs."""
    listed = holder.get("codecs") if isinstance(holder, dict) else None
    for definition in listed if isinstance(listed, list) else ():
        yield from _extension("codec", definition)
        if isinstance(definition, dict):
            yield from _codecs(definition.get("configuration"))


def _extension(point: str, definition: Any) -> Iterator[str]:
    name = definition.get("name") if isinstance(definition, dict) else definition
    is_raw = point == "data_type" and isinstance(name, str) and name[1:].isdecimal()
    if isinstance(name, str) and name not in _CORE[point] and not is_raw:
        yield f"{point}:{name}"
