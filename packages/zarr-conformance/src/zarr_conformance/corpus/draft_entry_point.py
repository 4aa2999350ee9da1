"""Entry point metadata of the draft of version 3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.draft_metadata import UNKNOWN, array, case, entry
from zarr_conformance.corpus.encode import document, json_text, raw
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

VALUES = np.array([1, -2, 3, 1 << 30], "<i4")
_READ = Node("array", (4,), values=Values(raw(VALUES)))
_STORED = {
    "meta/a.array.json": array(),
    "data/a/c0": raw(VALUES[:2]),
    "data/a/c1": raw(VALUES[2:]),
}


def _read_case(
    what: str, clauses: Any, summary: str, start: Any, expect: Expectation | None = None
) -> Case:
    """Return a case that reads the array of a hierarchy with this entry point."""
    return case(
        f"entry/{what}", clauses, summary, expect or Accept(_READ), _STORED, "read", start=start
    )


def _reject_case(
    what: str, clauses: Any, summary: str, start: Any, category: str = "metadata", also: str = ""
) -> Case:
    """Return a case that rejects a hierarchy with this entry point."""
    return case(f"entry/{what}", clauses, summary, Reject(category, also), _STORED, start=start)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield _read_case(
        "whole",
        (
            "entry",
            "entry-object",
            "zarr-format",
            "json-encoding",
            "entry-json",
            "array-document",
            "documents-encoding",
            "unknown-members",
            "array-members",
        ),
        "A hierarchy with entry point metadata, an array and two chunks.",
        entry(),
    )
    gone = case(
        "entry/none",
        "entry",
        "A hierarchy without entry point metadata does not exist.",
        Reject("missing", "metadata"),
        _STORED,
    )
    yield replace(gone, store={key: it for key, it in gone.store.items() if key != "zarr.json"})
    yield from _members()
    yield from _version()
    yield from _encoding()
    yield from _extensions()
    yield from _update()


def _members() -> Iterator[Case]:
    for kind, text in (
        ("empty", b""),
        ("cut", document(entry())[:-9]),
        ("list", b"[]"),
        ("string", b'"https://purl.org/zarr/spec/core/3.0"'),
        ("null", b"null"),
        ("utf-16", document(entry()).decode().encode("utf-16")),
        ("xml", b"<zarr_format>3</zarr_format>"),
        ("two-objects", document(entry()) * 2),
    ):
        yield _reject_case(
            f"no-json-{kind}",
            ("entry-json", "entry-object"),
            "Entry point metadata is one JSON object.",
            text,
            also="missing",
        )
    for name in ("zarr_format", "metadata_encoding", "extensions"):
        yield _reject_case(
            f"without-{name.replace('_', '-')}",
            "entry-object",
            f"{name} is mandatory.",
            entry(**{name: OMITTED}),
            also="missing",
        )
    for kind, value in (("string", "a"), ("null", None), ("object", {"must_understand": False})):
        yield _reject_case(
            f"further-member-{kind}",
            "unknown-members",
            "An unknown member of the entry point metadata is an error.",
            entry(unknown=value),
            also="extension",
        )


def _version() -> Iterator[Case]:
    for kind, value in (
        ("number", 3),
        ("number-as-text", "3"),
        ("null", None),
        ("list", ["https://purl.org/zarr/spec/core/3.0"]),
        ("another-text", "https://example.com/zarr/spec/core/3.0"),
        ("no-version", "https://purl.org/zarr/spec/core/"),
        ("another-document", "https://purl.org/zarr/spec/codecs/gzip/1.0"),
    ):
        yield _reject_case(
            f"format-{kind}",
            "zarr-format",
            f"{json_text(value)} is not the URI of the specification.",
            entry(zarr_format=value),
            also="missing",
        )
    for version in ("4.0", "2.0", "30.0"):
        yield _reject_case(
            f"format-{version}",
            ("version", "zarr-format"),
            "Another major version is another format.",
            entry(zarr_format=f"https://purl.org/zarr/spec/core/{version}"),
            also="extension",
        )
    minor = "https://purl.org/zarr/spec/core/3.1"
    yield _read_case(
        "format-3.1",
        ("compatible", "version"),
        "A later minor version is readable if no new feature is used.",
        entry(zarr_format=minor),
        Either(_READ),
    )
    yield _read_case(
        "format-3.1-further-member",
        ("minor", "compatible"),
        "Features of a later minor version may be ignored.",
        entry(zarr_format=minor, added={"a": 1}),
        Either(_READ),
    )


def _encoding() -> Iterator[Case]:
    plain = {"type": "json", "metadata_key_suffix": ".json"}
    for kind, value in (
        ("string", "json"),
        ("null", None),
        ("list", ["json", ".json"]),
        ("empty", {}),
        ("without-type", {"metadata_key_suffix": ".json"}),
        ("without-suffix", {"type": "json"}),
        ("type-number", plain | {"type": 1}),
        ("suffix-number", plain | {"metadata_key_suffix": 1}),
        ("suffix-null", plain | {"metadata_key_suffix": None}),
    ):
        yield _reject_case(
            f"encoding-{kind}",
            "json-encoding",
            f"{json_text(value)} is not a valid metadata encoding.",
            entry(metadata_encoding=value),
            also="extension",
        )
    yield _reject_case(
        "encoding-other-type",
        ("json-encoding", "transformer-required"),
        "The specification defines no metadata encoding other than JSON.",
        entry(metadata_encoding=plain | {"type": "xml"}),
        "extension",
        "metadata",
    )
    other = {"extension": UNKNOWN, "type": "cbor", "metadata_key_suffix": ".cbor"}
    yield _reject_case(
        "encoding-extension",
        ("other-encoding-object", "other-encoding-uri", "transformer-required"),
        "An unknown metadata encoding must be understood.",
        entry(metadata_encoding=other),
        "extension",
    )
    for name in other:
        yield _reject_case(
            f"encoding-extension-without-{name.replace('_', '-')}",
            "other-encoding-object",
            f"An extension metadata encoding has {name}.",
            entry(metadata_encoding={key: it for key, it in other.items() if key != name}),
            also="extension",
        )
    yield _reject_case(
        "encoding-extension-no-uri",
        "other-encoding-uri",
        "The extension of a metadata encoding is a URI.",
        entry(metadata_encoding=other | {"extension": 1}),
        also="extension",
    )


def extension_objects() -> Iterator[tuple[str, Any, str]]:
    """Invalid entries of ``extensions``, each with its clause."""
    sound = {"extension": UNKNOWN, "must_understand": False}
    yield "string", UNKNOWN, "extension-uri"
    yield "null", None, "extension-uri"
    yield "without-extension", {"must_understand": False}, "extension-uri"
    yield "extension-number", sound | {"extension": 1}, "extension-uri"
    yield "extension-null", sound | {"extension": None}, "extension-uri"
    yield "extension-no-uri", sound | {"extension": "no uri"}, "extension-uri"
    yield "without-must-understand", {"extension": UNKNOWN}, "extension-flag"
    for kind, value in (("string", "false"), ("null", None), ("zero", 0), ("list", [])):
        yield f"must-understand-{kind}", sound | {"must_understand": value}, "extension-flag"


def _extensions() -> Iterator[Case]:
    for kind, value in (("object", {}), ("null", None), ("string", UNKNOWN), ("true", True)):
        yield _reject_case(
            f"extensions-{kind}",
            "entry-object",
            "extensions is a list.",
            entry(extensions=value),
            also="extension",
        )
    for kind, value, clause in extension_objects():
        yield _reject_case(
            f"extension-{kind}",
            clause,
            f"{json_text(value)} is not a valid extension.",
            entry(extensions=[value]),
            also="extension",
        )
    required = {"extension": UNKNOWN, "must_understand": True}
    optional = {"extension": UNKNOWN, "must_understand": False, "configuration": {"a": [1]}}
    yield _reject_case(
        "extension-required",
        "extension-refused",
        "An unknown extension with must_understand true is an error.",
        entry(extensions=[required]),
        "extension",
    )
    yield _reject_case(
        "extension-required-behind-another",
        ("extension-refused", "extension-ignored"),
        "An extension with must_understand false does not affect the others.",
        entry(extensions=[optional, required | {"extension": f"{UNKNOWN}1"}]),
        "extension",
    )
    yield _read_case(
        "extension-ignored",
        (
            "extension-ignored",
            "extension-configuration",
            "compatible",
            "extension-uri",
            "extension-flag",
            "extension-refused",
        ),
        "An unknown extension with must_understand false may be ignored.",
        entry(extensions=[optional]),
        Either(_READ),
    )


def _update() -> Iterator[Case]:
    """Yield the cases that set an attribute and keep the entry point."""
    optional = {"extension": UNKNOWN, "must_understand": False, "configuration": {"a": [1, 2.5]}}
    for kind, start in (("plain", entry()), ("extension", entry(extensions=[optional]))):
        after = Node(
            documents={"zarr.json": start, "meta/a.array.json": array(attributes={"harness": 1})},
            stored={"data/a/c0": raw(VALUES[:2])},
        )
        yield case(
            f"entry/kept-{kind}",
            ("entry", "attributes", "keys-documents"),
            "Setting an attribute changes the metadata of the node, not the entry point.",
            Accept(after) if kind == "plain" else Either(after),
            _STORED,
            "update",
            start=start,
        )
