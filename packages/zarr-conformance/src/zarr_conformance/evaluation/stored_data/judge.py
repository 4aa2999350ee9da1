"""The judgement of what an operation has written: documents, keys and elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Either
from zarr_conformance.evaluation.difference import difference
from zarr_conformance.evaluation.stored_data import draft, metadata, version_2, version_3
from zarr_conformance.evaluation.stored_data.elements import split
from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError
from zarr_conformance.evaluation.stored_data.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_conformance.corpus.case import Case

    Stored = Mapping[str, bytes]
    Reader = Callable[[Stored, str, Mapping[str, Any]], bytes]

_DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
_MOST_KEYS = 1 << 12  # chunks of a case


def stored_problems(case: Case, stored: Stored, unknown: list[str]) -> Iterator[str]:
    """Yield what is wrong with the store after an operation that succeeded.

    Parameters
    ----------
    case : Case
        The case: the metadata and the elements that were to be written.
    stored : mapping of str to bytes
        The contents of the store.
    unknown : list of str
        Receives what could not be judged, because the readers of this package do not know
        an extension.

    Yields
    ------
    str
        A problem in one sentence.
    """
    documents: dict[str, Any] = {}
    for key, value in stored.items():
        # Documents that were there before need not be valid.
        if _is_document(case, key) and case.store.get(key) != value:
            try:
                documents[key] = parse_json(value, key)
            except StoredDataError as error:
                yield str(error)
                return
    node = case.expect.node if isinstance(case.expect, Accept | Either) else None
    if case.operation != "create" and (node is None or node.values is None):
        return  # only documents have changed, and cases compare their members
    judge = _VERSIONS[case.zarr_format]
    try:
        yield from judge(case, stored, documents)
    except UnknownExtensionError as error:
        unknown.append(f"the written elements ({error})")
    except StoredDataError as error:
        yield f"the written array: {error}"
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        yield f"the written array cannot be read: {type(error).__name__}: {error}"


def _is_document(case: Case, key: str) -> bool:
    if case.zarr_format == 0:
        return key == "zarr.json" or key.startswith("meta/")
    return key.rpartition("/")[2] in _DOCUMENTS


def _elements(
    case: Case, stored: Stored, prefix: str, document: Any, read: Reader
) -> Iterator[str]:
    """Compare the elements with those of the case; without elements, none may be stored."""
    values = case.expect.node.values if isinstance(case.expect, Accept | Either) else None
    if values is not None and values.kind == "json":
        raise UnknownExtensionError("elements of variable size")
    elements = read(stored, prefix, document)
    if values is not None and elements != values.data:
        yield f"written elements: {difference(values.data, elements)}"


def _unexpected_keys(
    case: Case,
    stored: Stored,
    prefix: str,
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    key: Callable[[Any], str],
) -> Iterator[str]:
    """Yield keys that are neither documents nor chunks of the array."""
    counts = version_3.chunk_counts(shape, lengths)
    if prod(counts) > _MOST_KEYS:
        return
    chunks = {prefix + key(at) for at in np.ndindex(*counts)}
    for name in stored.keys() - chunks - case.store.keys():
        if not _is_document(case, name):
            yield f"{name} is neither a metadata document nor a chunk"


def _prefix(case: Case) -> str:
    return f"{case.path}/" if case.path else ""


# --- version 3 ---


def _version_3(case: Case, stored: Stored, documents: Mapping[str, Any]) -> Iterator[str]:
    key = f"{_prefix(case)}zarr.json"
    if key not in stored:
        yield f"{key} is missing after the operation"
        return
    document = documents[key] if key in documents else parse_json(stored[key], key)
    if not isinstance(document, dict):
        yield f"{key} is not a JSON object after the operation"
        return
    is_array = document.get("node_type") == "array"
    if case.operation == "create":
        requested = case.document
        judge = metadata.array_problems_3 if "shape" in requested else metadata.group_problems_3
        problems = [f"{key}: {item}" for item in judge(requested, document)]
        yield from problems
        if problems or not is_array:
            return
        yield from _parents(case, documents)
    if not is_array:
        return
    yield from _elements(case, stored, _prefix(case), document, version_3.read_array)
    if case.operation == "create" and not document.get("storage_transformers"):
        lengths = tuple(split(document["chunk_grid"])[1]["chunk_shape"])
        function = version_3.key_function(document["chunk_key_encoding"])
        yield from _unexpected_keys(
            case, stored, _prefix(case), tuple(document["shape"]), lengths, function
        )


def _parents(case: Case, documents: Mapping[str, Any]) -> Iterator[str]:
    """Yield new documents of other nodes that are not groups."""
    own = f"{_prefix(case)}zarr.json"
    for key, document in documents.items():
        if key != own and isinstance(document, dict) and document.get("node_type") != "group":
            yield f"{key} is the document of another node"


# --- version 2 ---


def _version_2(case: Case, stored: Stored, documents: Mapping[str, Any]) -> Iterator[str]:
    prefix = _prefix(case)
    requested = case.document if case.operation == "create" else None
    is_array = f"{prefix}.zarray" in stored
    if requested is not None:
        expected = f"{prefix}{'.zarray' if 'shape' in requested else '.zgroup'}"
        if expected not in stored:
            yield f"{expected} is missing after the operation"
            return
        attributes = requested.get("attributes")
        if attributes:
            written = documents.get(f"{prefix}.zattrs", {})
            merged = {"attributes": written} if isinstance(written, dict) else {}
            yield from metadata.attribute_problems({"attributes": attributes}, merged)
    for key, document in documents.items():
        if key.endswith(".zgroup") and document != {"zarr_format": 2}:
            yield f"{key} is {document!r}"
    if not is_array:
        return
    key = f"{prefix}.zarray"
    document = documents[key] if key in documents else parse_json(stored[key], key)
    if requested is not None:
        problems = metadata.array_problems_2(
            {name: value for name, value in requested.items() if name != "attributes"}, document
        )
        found_problems = [f"{key}: {problem}" for problem in problems]
        yield from found_problems
        if found_problems:
            return
    yield from _elements(case, stored, prefix, document, version_2.read_array)
    if requested is not None:
        separator = document.get("dimension_separator", ".")
        yield from _unexpected_keys(
            case,
            stored,
            prefix,
            tuple(document["shape"]),
            tuple(document["chunks"]),
            lambda at: separator.join(map(str, at)) or "0",
        )


# --- the draft of version 3 ---


def _draft(case: Case, stored: Stored, documents: Mapping[str, Any]) -> Iterator[str]:
    entry = parse_json(stored["zarr.json"], "zarr.json")
    suffix = entry["metadata_encoding"]["metadata_key_suffix"]
    below = f"/{case.path}" if case.path else ""
    key = f"meta{below}.array{suffix}" if below else f"meta/array{suffix}"
    if case.operation == "create" and "shape" not in case.document:
        return
    if key not in stored:
        if case.operation == "create":
            yield f"{key} is missing after the operation"
        return
    document = documents[key] if key in documents else parse_json(stored[key], key)
    if case.operation == "create":
        problems = [
            f"{key}: {item}" for item in metadata.array_problems_draft(case.document, document)
        ]
        yield from problems
        if problems:
            return
    prefix = f"data{below}/"
    yield from _elements(case, stored, prefix, document, draft.read_array)
    if case.operation == "create" and not document.get("storage_transformers"):
        separator = document["chunk_grid"]["separator"]
        lengths = tuple(document["chunk_grid"]["chunk_shape"])
        yield from _unexpected_keys(
            case,
            stored,
            prefix,
            tuple(document["shape"]),
            lengths,
            lambda at: f"c{separator.join(map(str, at))}",
        )


_VERSIONS: dict[int, Callable[[Case, Stored, Mapping[str, Any]], Iterator[str]]] = {
    0: _draft,
    2: _version_2,
    3: _version_3,
}
