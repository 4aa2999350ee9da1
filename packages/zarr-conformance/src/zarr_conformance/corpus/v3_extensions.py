"""Extension points of version 3: definitions, short-hand names, must_understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import document, json_text, raw
from zarr_conformance.corpus.metadata import array, group, regular
from zarr_conformance.corpus.one_chunk import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

_UNKNOWN = "example.unknown"
_VALUES = np.array([1, 2, 3, 4], "<i4")

# Extension points with a known definition, if the base document has one. The codecs and
# storage_transformers take a list of definitions.
_POINTS: dict[str, Any] = {
    "data_type": {"name": "int32"},
    "chunk_grid": regular(2),
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "codecs": BYTES,
    "storage_transformers": None,
}

# Extension points that do not support must_understand false.
_NEVER_IGNORED = ("data_type", "chunk_grid", "chunk_key_encoding")


def _metadata_with(point: str, definition: Any) -> dict[str, Any]:
    """Return metadata with a definition at an extension point."""
    if point == "codecs":
        own = isinstance(definition, dict) and definition.get("name") == "bytes"
        return array(codecs=[definition] if own else [BYTES, definition])
    if point == "storage_transformers":
        return array(storage_transformers=[definition])
    return array(**{point: definition})


def _case(
    name: str,
    clauses: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    stored: dict[str, Any],
    chunks: dict[str, bytes] | None = None,
    operation: Any = "open",
) -> Case:
    names = (clauses,) if isinstance(clauses, str) else clauses
    return Case(
        f"v3-core/extensions/{name}",
        tuple(f"v3-core.{item}" for item in names),
        summary,
        operation,
        expect,
        {"zarr.json": document(stored), **(chunks or {})},
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for point, known in _POINTS.items():
        yield from _unknown(point)
        yield from _malformed(point)
        if known is not None:
            yield from _forms(point, known)
    yield from table_cases("v3_extensions", "short_hand", "members")
    yield from _update()
    yield from table_cases("v3_extensions", "names")


def _unknown(point: str) -> Iterator[Case]:
    where = point.replace("_", "-")
    for form, definition in (("name", _UNKNOWN), ("object", {"name": _UNKNOWN})):
        yield _case(
            f"{where}/unknown-{form}",
            ("extensions.unknown-array", "extensions.must-understand-default"),
            f"An unknown extension in {point} is an error.",
            Reject("extension"),
            _metadata_with(point, definition),
        )
    yield _case(
        f"{where}/unknown-must-understand-true",
        ("extensions.unknown-array", "extensions.must-understand-default"),
        f"An unknown extension in {point} with must_understand true is an error.",
        Reject("extension"),
        _metadata_with(point, {"name": _UNKNOWN, "must_understand": True}),
    )
    ignored = {"name": _UNKNOWN, "must_understand": False, "configuration": {"a": 1}}
    if point in ("codecs", "storage_transformers"):
        yield _case(
            f"{where}/unknown-must-understand-false",
            # The specification permits to ignore it, but has no "must" that requires it to open.
            "extensions.must-understand-false",
            f"An unknown extension in {point} with must_understand false is ignored.",
            Accept(Node("array", (4,))),
            _metadata_with(point, ignored),
        )
    else:
        yield _case(
            f"{where}/unknown-must-understand-false",
            ("extensions.must-understand-points", "extensions.unknown-array"),
            f"must_understand false is not supported in {point}.",
            Reject("extension", "metadata"),
            _metadata_with(point, ignored),
        )


def _malformed(point: str) -> Iterator[Case]:
    where = point.replace("_", "-")
    wrong: dict[str, tuple[Any, str]] = {
        "without-name": ({"configuration": {}}, "extensions.name"),
        "name-number": ({"name": 1}, "extensions.name"),
        "name-null": ({"name": None}, "extensions.name"),
        "name-empty": ({"name": ""}, "extensions.name"),
        "configuration-list": ({"name": _UNKNOWN, "configuration": []}, "extensions.configuration"),
        "configuration-string": (
            {"name": _UNKNOWN, "configuration": "a"},
            "extensions.configuration",
        ),
        "must-understand-string": (
            {"name": _UNKNOWN, "must_understand": "false"},
            "extensions.must-understand-default",
        ),
        "must-understand-null": (
            {"name": _UNKNOWN, "must_understand": None},
            "extensions.must-understand-default",
        ),
        "must-understand-zero": (
            {"name": _UNKNOWN, "must_understand": 0},
            "extensions.must-understand-default",
        ),
    }
    for kind, (definition, clause) in wrong.items():
        yield _case(
            f"{where}/{kind}",
            clause,
            f"{json_text(definition)} is not a valid extension definition in {point}.",
            Reject("metadata"),
            _metadata_with(point, definition),
        )


def _forms(point: str, known: dict[str, Any]) -> Iterator[Case]:
    where = point.replace("_", "-")
    plain = Accept(Node("array", (4,), values=Values(raw(_VALUES))))
    chunks = {"c/0": raw(_VALUES[:2]), "c/1": raw(_VALUES[2:])}
    yield _case(
        f"{where}/object",
        (
            "extensions.name",
            "extensions.configuration",
            "extensions.configuration-optional",
            "extensions.registered",
            "codecs.identifier",
        ),
        f"An object with a name and, if needed, a configuration in {point}.",
        plain if point != "data_type" else Either(plain.node),
        _metadata_with(point, known),
        chunks,
        "read",
    )
    yield _case(
        f"{where}/must-understand-true",
        (
            "extensions.must-understand-default",
            *(("extensions.must-understand-points",) if point in _NEVER_IGNORED else ()),
        ),
        f"A known extension in {point} may have must_understand true.",
        plain if point != "data_type" else Either(plain.node),
        _metadata_with(point, known | {"must_understand": True}),
        chunks,
        "read",
    )
    if point in _NEVER_IGNORED:
        yield _case(
            f"{where}/known-must-understand-false",
            "extensions.must-understand-points",
            f"A known extension in {point} with must_understand false: the specification is ambiguous.",
            # "Not supported" may mean invalid, or without effect for known extensions.
            Either(plain.node),
            _metadata_with(point, known | {"must_understand": False}),
            chunks,
            "read",
        )
    else:
        yield _case(
            f"{where}/known-must-understand-false",
            "extensions.must-understand-false",
            f"A known extension in {point} is applied, also with must_understand false.",
            plain,
            _metadata_with(point, known | {"must_understand": False}),
            chunks,
            "read",
        )
    yield _case(
        f"{where}/further-member",
        "extensions.unknown-array",
        f"A definition in {point} has name, configuration and must_understand only.",
        Reject("metadata"),
        _metadata_with(point, known | {"unknown_member": 1}),
    )


def _update() -> Iterator[Case]:
    """Yield cases that set an attribute; the other metadata is kept."""
    ignored = {"name": "example.new", "must_understand": False, "configuration": {"z": [1, 2.5]}}
    attributes = {"a": 2**53 - 1, "b": 1e22, "c": "é", "harness": 0}
    documents: dict[str, dict[str, Any]] = {
        "attributes": array(attributes=attributes),
        "group-attributes": group(attributes=attributes),
        "member": array(unknown=ignored, attributes=attributes),
        "short-hand": array(
            chunk_key_encoding="default", data_type="uint8", codecs=["bytes"], attributes=attributes
        ),
        "flag-false": array(codecs=[BYTES | {"must_understand": False}], attributes=attributes),
        "names": array(dimension_names=[None], attributes=attributes),
        "no-names": array(attributes=attributes),
        "fill-hex": array(data_type="float32", fill_value="0x7fc00001", attributes=attributes),
        "transformers": array(storage_transformers=[], attributes=attributes),
        "group-member": group(unknown=ignored, attributes=attributes),
    }
    for name, before in documents.items():
        after = before | {"attributes": attributes | {"harness": 1}}
        if not name.endswith("attributes"):
            del after["attributes"]
        if name == "transformers":
            del after["storage_transformers"]  # equivalent to an empty list
        if name in ("short-hand", "flag-false"):
            # Equivalent definitions may be written in another form.
            del after["codecs"], after["chunk_key_encoding"]
        yield _case(
            f"kept/{name}",
            ("array.attributes-any",) if "group" not in name else ("group.attributes-any",),
            "Setting an attribute changes only this attribute in the metadata.",
            Accept(Node(documents={"zarr.json": after})),
            before,
            operation="update",
        )
