"""Array metadata of the draft of version 3: invalid documents, and documents with open results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject
from zarr_conformance.corpus.draft_entry_point import extension_objects
from zarr_conformance.corpus.draft_metadata import (
    DATA_TYPES,
    SHARDING,
    UNKNOWN,
    array,
    case,
    codec,
    regular,
)
from zarr_conformance.corpus.encode import document, json_text
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Iterator

_TIME = {"extension": f"{DATA_TYPES}/datetime/1.0", "type": "<M8[ns]"}


def _reject_case(
    what: str, clauses: Any, summary: str, metadata: Any, also: str = "extension"
) -> Case:
    """Return a case: array metadata that must be rejected."""
    return case(
        f"array/{what}", clauses, summary, Reject("metadata", also), {"meta/a.array.json": metadata}
    )


def _unknown(what: str, clauses: Any, summary: str, metadata: Any) -> Case:
    """Return a case: array metadata with an unknown extension."""
    return case(
        f"array/{what}", clauses, summary, Reject("extension"), {"meta/a.array.json": metadata}
    )


def _open(what: str, clauses: Any, summary: str, metadata: Any, expect: Any = None) -> Case:
    """Return a case: array metadata that must open."""
    chosen = expect or Accept(Node("array", (4,)))
    return case(f"array/{what}", clauses, summary, chosen, {"meta/a.array.json": metadata})


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _documents()
    yield from _shapes()
    yield from _grids()
    yield from _layouts()
    yield from _data_types()
    yield from _extensions()
    yield from _attributes()
    yield from _codecs()
    yield from _transformers()


def _documents() -> Iterator[Case]:
    for kind, text in (
        ("empty", b""),
        ("cut", document(array())[:-5]),
        ("list", b"[]"),
        ("null", b"null"),
        ("utf-16", document(array()).decode().encode("utf-16")),
        ("two-objects", document(array()) * 2),
    ):
        yield _reject_case(
            f"no-json-{kind}",
            ("documents-encoding", "array-members"),
            "Array metadata is one JSON object.",
            text,
        )
    for name in array():
        yield _reject_case(
            f"without-{name.replace('_', '-')}",
            ("array-members", "fill-required") if name == "fill_value" else "array-members",
            f"{name} is mandatory.",
            array(**{name: OMITTED}),
        )
    for name, value in (
        ("nobodys", 1),
        ("zarr_format", 3),
        ("node_type", "array"),
        ("dimension_names", ["x"]),
        ("dimension_separator", "/"),
        ("chunk_key_encoding", {"name": "default"}),
        ("compressor", None),
        ("filters", None),
        ("must_understand", False),
    ):
        yield _reject_case(
            f"further-member-{name.replace('_', '-')}",
            ("array-others", "unknown-members"),
            f"{name} is not a permitted member of array metadata.",
            array(**{name: value}),
        )


def _shapes() -> Iterator[Case]:
    for kind, value in (
        ("negative", [-1]),
        ("fraction", [4.5]),
        ("whole-float", [4.0]),
        ("text", ["4"]),
        ("true", [True]),
        ("null", None),
        ("number", 4),
        ("object", {"0": 4}),
        ("list-in-list", [[4]]),
    ):
        yield _reject_case(
            f"shape-{kind}",
            "shape",
            f"{json_text(value)} is not a valid shape.",
            array(shape=value),
        )
    yield _open(
        "shape-without-elements",
        ("shape", "non-zero-chunks", "array-members", "grid-type", "unknown-members"),
        "A dimension may have length 0; its chunk length may be 0 as well.",
        array(shape=[0], chunk_grid=regular(0)),
        Accept(Node("array", (0,))),
    )


def _grids() -> Iterator[Case]:
    plain = regular(2)
    for kind, value, clause in (
        ("null", None, "grid-object"),
        ("string", "regular", "grid-object"),
        ("list", [2], "grid-object"),
        ("without-type", {k: v for k, v in plain.items() if k != "type"}, "grid-object"),
        ("without-shape", {k: v for k, v in plain.items() if k != "chunk_shape"}, "grid-object"),
        ("without-separator", {k: v for k, v in plain.items() if k != "separator"}, "grid-object"),
        ("other-type", plain | {"type": "rectangular"}, "grid-type"),
        ("capital", plain | {"type": "Regular"}, "grid-type"),
        ("type-number", plain | {"type": 1}, "grid-type"),
        ("shape-text", plain | {"chunk_shape": ["2"]}, "grid-shape"),
        ("shape-number", plain | {"chunk_shape": 2}, "grid-shape"),
        ("shape-fraction", plain | {"chunk_shape": [2.5]}, "grid-shape"),
        ("shape-true", plain | {"chunk_shape": [True]}, "grid-shape"),
        ("shape-negative", plain | {"chunk_shape": [-2]}, "grid-shape"),
        ("shape-zero", plain | {"chunk_shape": [0]}, "non-zero-chunks"),
        ("too-few-lengths", plain | {"chunk_shape": []}, "grid-shape"),
        ("too-many-lengths", plain | {"chunk_shape": [2, 2]}, "grid-shape"),
        ("separator-other", plain | {"separator": "-"}, "grid-separator"),
        ("separator-empty", plain | {"separator": ""}, "grid-separator"),
        ("separator-two", plain | {"separator": "//"}, "grid-separator"),
        ("separator-null", plain | {"separator": None}, "grid-separator"),
        ("extension-without-type", {"extension": UNKNOWN}, "grid-extension-object"),
        ("extension-number", {"extension": 1, "type": "a"}, "grid-extension-object"),
        ("of-version-3", {"name": "regular", "configuration": plain}, "grid-object"),
    ):
        yield _reject_case(
            f"grid-{kind}",
            clause,
            f"{json_text(value)} is not a valid chunk grid.",
            array(chunk_grid=value),
        )
    yield _unknown(
        "grid-unknown",
        ("grid-extension-object", "transformer-required"),
        "An unknown extension chunk grid must be understood.",
        array(chunk_grid={"extension": UNKNOWN, "type": "a", "configuration": {}}),
    )


def _layouts() -> Iterator[Case]:
    for kind, value, clause in (
        ("small", "c", "layout-value"),
        ("keep", "K", "layout-value"),
        ("empty", "", "layout-value"),
        ("null", None, "layout-value"),
        ("number", 0, "layout-value"),
        ("list", ["C"], "layout-value"),
        ("extension-without-type", {"extension": UNKNOWN}, "layout-extension-object"),
        ("without-extension", {"type": "C"}, "layout-extension-object"),
        ("extension-number", {"extension": 1, "type": "a"}, "layout-extension-object"),
    ):
        yield _reject_case(
            f"layout-{kind}",
            clause,
            f"{json_text(value)} is not a valid chunk memory layout.",
            array(chunk_memory_layout=value),
        )
    yield _unknown(
        "layout-unknown",
        ("layout-extension-object", "transformer-required"),
        "An unknown extension layout must be understood.",
        array(chunk_memory_layout={"extension": UNKNOWN, "type": "hilbert"}),
    )


def _data_types() -> Iterator[Case]:
    for name in ("int31", "Int32", "float80", "int", "", "r", "r0", "r12", "r-8", "r8.0", "bool_"):
        yield _reject_case(
            f"data-type-no-{name.lower() or 'empty'}" + ("-capital" if name == "Int32" else ""),
            ("data-type-name", "type-names"),
            f"{name!r} is not a core data type.",
            array(data_type=name),
        )
    for kind, value, clause in (
        ("null", None, "data-type-name"),
        ("number", 4, "data-type-name"),
        ("without-extension", {"type": "<M8[ns]"}, "data-type-object"),
        ("extension-number", _TIME | {"extension": 1}, "data-type-uri"),
        ("extension-null", _TIME | {"extension": None}, "data-type-uri"),
        ("without-type", {"extension": _TIME["extension"]}, "data-type-type"),
        ("unknown-without-type", {"extension": UNKNOWN}, "data-type-type"),
        ("fallback-number", {"extension": UNKNOWN, "type": "a", "fallback": 4}, "fallback-form"),
        ("fallback-null", {"extension": UNKNOWN, "type": "a", "fallback": None}, "fallback-form"),
        ("fallback-empty", {"extension": UNKNOWN, "type": "a", "fallback": []}, "fallback-form"),
        ("of-version-3", {"name": "int32"}, "data-type-object"),
    ):
        yield _reject_case(
            f"data-type-{kind}",
            clause,
            f"{json_text(value)} is not a valid data type.",
            array(data_type=value),
        )
    unknown = {"extension": UNKNOWN, "type": "a"}
    yield _unknown(
        "data-type-unknown",
        ("fallback-used", "transformer-required"),
        "An unknown data type without fallback must be understood.",
        array(data_type=unknown),
    )
    yield _unknown(
        "data-type-unknown-fallbacks",
        "fallback-used",
        "Unknown fallbacks are ignored.",
        array(data_type=unknown | {"fallback": ["int31", unknown]}),
    )


def _extensions() -> Iterator[Case]:
    for kind, value in (("object", {}), ("null", None), ("string", UNKNOWN)):
        yield _reject_case(
            f"extensions-{kind}",
            "array-extensions",
            "extensions is a list.",
            array(extensions=value),
        )
    for kind, value, clause in extension_objects():
        yield _reject_case(
            f"extension-{kind}",
            ("array-extensions", clause),
            f"{json_text(value)} is not a valid extension.",
            array(extensions=[value]),
        )
    required = {"extension": UNKNOWN, "must_understand": True}
    optional = {"extension": UNKNOWN, "must_understand": False, "configuration": {"a": [1]}}
    yield _unknown(
        "extension-required",
        ("array-extensions", "extension-refused"),
        "An unknown extension with must_understand true is an error.",
        array(extensions=[required]),
    )
    yield _open(
        "extension-ignored",
        ("array-extensions", "extension-ignored"),
        "An unknown extension with must_understand false may be ignored.",
        array(extensions=[optional]),
        Either(Node("array", (4,))),
    )


def _attributes() -> Iterator[Case]:
    for kind, value in (("null", None), ("list", []), ("string", "a"), ("number", 1)):
        yield _reject_case(
            f"attributes-{kind}", "attributes", "attributes is an object.", array(attributes=value)
        )
    some = {"": 0, "é": [None, True, {"a": {"b": []}}], "c": 2**60, "d": 0.1, "harness": 0}
    yield _open(
        "attributes-any",
        ("attributes", "attribute-keys"),
        "Attribute values may be any JSON value.",
        array(attributes=some),
        Accept(Node("array", attributes=some)),
    )
    for kind, before in (
        ("plain", array(attributes=some)),
        ("codecs-empty", array(attributes=some, codecs=[])),
        ("transformers-empty", array(attributes=some, storage_transformers=[])),
        ("fill-digits", array(attributes=some, fill_value="0x00000007")),
        ("layout", array(attributes=some, chunk_memory_layout="F")),
        ("separator", array(attributes=some, chunk_grid=regular(2, separator="."))),
        ("fallback", array(attributes=some, data_type={**_TIME, "fallback": ["r64"]})),
        ("codecs", array(attributes=some, codecs=[codec("gzip", level=3)])),
    ):
        yield case(
            f"array/kept-{kind}",
            ("attributes", "attribute-keys", "array-others", "codecs-objects", "fill-null"),
            "Setting an attribute changes only this attribute in the metadata.",
            Accept(
                Node(
                    documents={"meta/a.array.json": before | {"attributes": some | {"harness": 1}}}
                )
            ),
            {"meta/a.array.json": before},
            "update",
            needs={"codecs": ("codec:gzip",), "fallback": ("data_type:datetime",)}.get(kind, ()),
        )


def _codecs() -> Iterator[Case]:
    for kind, value, clause in (
        ("null", None, "codecs-objects"),
        ("object", codec("gzip", level=1), "codecs-objects"),
        ("string", "gzip", "codecs-objects"),
        ("list-of-strings", [codec("gzip", level=1)["type"]], "codecs-objects"),
        ("list-of-null", [None], "codecs-objects"),
        ("without-type", [{"configuration": {"level": 1}}], "codecs-objects"),
        ("type-number", [{"type": 1}], "codec-uri"),
        ("type-null", [{"type": None}], "codec-uri"),
        ("of-version-3", [{"name": "gzip", "configuration": {"level": 1}}], "codecs-objects"),
        ("configuration-list", [codec("gzip") | {"configuration": [1]}], "codecs-objects"),
        ("configuration-null", [codec("gzip") | {"configuration": None}], "codecs-objects"),
        ("gzip-level-10", [codec("gzip", level=10)], "gzip-level"),
        ("gzip-level-negative", [codec("gzip", level=-1)], "gzip-level"),
        ("gzip-level-text", [codec("gzip", level="1")], "gzip-level"),
        ("gzip-level-fraction", [codec("gzip", level=1.5)], "gzip-level"),
        ("endian-left-out", [codec("endian")], "endian"),
        ("endian-middle", [codec("endian", endian="middle")], "endian"),
        ("endian-null", [codec("endian", endian=None)], "endian"),
        ("endian-capital", [codec("endian", endian="Big")], "endian"),
    ):
        yield _reject_case(
            f"codecs-{kind}",
            clause,
            f"{json_text(value)} is not a valid list of codecs.",
            array(codecs=value),
        )
    number: Any
    blosc: dict[str, Any] = {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    for name, number in (
        ("cname", "lz5"),
        ("cname", None),
        ("clevel", 10),
        ("clevel", -1),
        ("clevel", "5"),
        ("shuffle", 3),
        ("shuffle", -2),
        ("shuffle", "shuffle"),
        ("blocksize", -1),
        ("blocksize", 0.5),
    ):
        yield _reject_case(
            f"codecs-blosc-{name}-{str(number).lower().replace('-', 'minus-').replace('.', '-')}",
            "blosc-members",
            f"{json_text(number)} is not a valid {name} of Blosc.",
            array(codecs=[codec("blosc", **(blosc | {name: number}))]),
        )
    yield _unknown(
        "codecs-unknown",
        "codec-uri",
        "A chunk with an unknown codec cannot be decoded.",
        array(codecs=[{"type": UNKNOWN, "configuration": {}}]),
    )
    yield _reject_case(
        "codecs-unknown-ignored",
        "codec-uri",
        "must_understand is not a member of codecs.",
        array(codecs=[{"type": UNKNOWN, "must_understand": False}]),
    )


def _transformers() -> Iterator[Case]:
    plain = {"extension": SHARDING, "type": "indexed", "configuration": {"chunks_per_shard": [2]}}
    for kind, value, clause in (
        ("null", None, "transformers-objects"),
        ("object", plain, "transformers-objects"),
        ("strings", [SHARDING], "transformers-objects"),
        (
            "without-extension",
            [{k: v for k, v in plain.items() if k != "extension"}],
            "transformers-objects",
        ),
        ("without-type", [{k: v for k, v in plain.items() if k != "type"}], "transformers-objects"),
        ("extension-number", [plain | {"extension": 1}], "transformers-objects"),
        ("shard-format", [plain | {"type": "zipped"}], "shard-format"),
        ("shard-zero", [plain | {"configuration": {"chunks_per_shard": [0]}}], "shard-counts"),
        ("shard-rank", [plain | {"configuration": {"chunks_per_shard": [2, 2]}}], "shard-counts"),
        ("shard-number", [plain | {"configuration": {"chunks_per_shard": 2}}], "shard-counts"),
        ("shard-without", [plain | {"configuration": {}}], "shard-counts"),
    ):
        yield _reject_case(
            f"transformers-{kind}",
            clause,
            f"{json_text(value)} is not a valid list of storage transformers.",
            array(storage_transformers=value),
        )
    yield _unknown(
        "transformers-unknown",
        ("transformers-objects", "transformer-required"),
        "An unknown storage transformer must be understood.",
        array(storage_transformers=[{"extension": UNKNOWN, "type": "a"}]),
    )
    yield _open(
        "transformers-empty",
        "transformers-optional",
        "An empty list means no storage transformers.",
        array(storage_transformers=[]),
    )
