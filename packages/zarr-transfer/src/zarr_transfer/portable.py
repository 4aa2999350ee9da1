"""Conversions whose results given libraries read."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Protocol

from zarr_core import MemoryStore
from zarr_core.extension import MetadataValidationError, ValidationProblem
from zarr_core.optional import optional_function

from zarr_transfer.to_format import NODE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_transfer.plan import CopyStep, NodeLocation


# For the first token of the JSON pointer of a problem, the parts of a layout that can solve it,
# with their values in the order of preference.
_ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
_GZIP = {"name": "gzip", "configuration": {"level": 5}}
_LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
_CODECS: dict[str, tuple[Any, ...]] = {
    "compressors": (_ZSTD, _GZIP, None),
    "serializer": ("auto", _LITTLE),
    "filters": (None,),
    "shards": (None,),
}
_SOLUTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "codecs": _CODECS,
    "compressor": _CODECS,
    "filters": _CODECS,
    "order": {"filters": (None,)},
    "dtype": {"serializer": (_LITTLE,)},
    "chunk_key_encoding": {"chunk_key_encoding": ("default", "v2")},
    "dimension_separator": {"chunk_key_encoding": ("v2",)},
    "chunk_grid": {"chunks": ("auto",)},
    "fill_value": {"fill_value": (None,)},
}


class Requirement(Protocol):
    """The requirement that given libraries read the result; zarr-conformance implements it."""

    def problems(self, path: str, documents: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return a JSON pointer and a message for each reason why a node is not read."""

    def zarr_format(self) -> int:
        """Return the newest version of the format that all libraries read."""


def requirement(libraries: str | Iterable[str] | None) -> Requirement | None:
    """Return the requirement that these libraries read the result, if there are any."""
    if libraries is None:
        return None
    portable: Requirement = optional_function("convert(portable=...)")(libraries)
    return portable


def portable_step(
    dest: NodeLocation,
    required: Requirement,
    requested: Mapping[str, Any],
    plan: Callable[[Mapping[str, Any]], CopyStep],
) -> CopyStep:
    """Return a step whose result the libraries read; raise an error if no layout is possible."""
    first = plan(requested)
    problems = _problems(dest, first, required)
    if not problems:
        return first
    for changes in _changes(requested, problems) if first.is_array else ():
        with suppress(*NODE_ERRORS):
            step = plan({**requested, **changes})
            if not _problems(dest, step, required):
                return step
    raise MetadataValidationError(dest.location(first.path), problems)


def _problems(dest: NodeLocation, step: CopyStep, required: Requirement) -> list[ValidationProblem]:
    """Return why libraries do not read the result of a step."""
    assert step.metadata is not None, "a step without problems has metadata"
    store, at = MemoryStore(), dest.at(step.path)
    dest.format_.create(store, at, step.metadata)
    documents = {}
    for key in dest.format_.documents(at):
        content = store.get(key)
        if content is not None:
            documents[key.rpartition("/")[2]] = json.loads(bytes(content))
    return [ValidationProblem(*problem) for problem in required.problems(at, documents)]


def _changes(
    requested: Mapping[str, Any], problems: Iterable[ValidationProblem]
) -> Iterator[dict[str, Any]]:
    """Yield changes of the layout that can solve problems, those of few parts first."""
    free: dict[str, tuple[Any, ...]] = {}
    for problem in problems:
        member = problem.pointer.split("/")[1] if problem.pointer else ""
        for part, values in _SOLUTIONS.get(member, {}).items():
            if part not in requested:
                free.setdefault(part, values)
    for count in range(1, len(free) + 1):
        for parts in combinations(free, count):
            for values in product(*(free[part] for part in parts)):
                yield dict(zip(parts, values, strict=True))
