"""The entry point of a hierarchy of the draft of version 3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.documents import LEFT_OUT
from zarr_conformance.corpus.draft_documents import UNKNOWN, array, case, entry
from zarr_conformance.corpus.encode import document, raw

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


def _read(
    what: str, clauses: Any, says: str, start: Any, expect: Expectation | None = None
) -> Case:
    """The array of a hierarchy that begins like this is read."""
    return case(
        f"entry/{what}", clauses, says, expect or Accept(_READ), _STORED, "read", start=start
    )


def _refused(
    what: str, clauses: Any, says: str, start: Any, category: str = "metadata", also: str = ""
) -> Case:
    """A hierarchy that begins like this is refused."""
    return case(f"entry/{what}", clauses, says, Reject(category, also), _STORED, start=start)


def cases() -> Iterator[Case]:
    """All of them."""
    yield _read(
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
        "A hierarchy with its entry point, an array, two chunks.",
        entry(),
    )
    gone = case(
        "entry/none",
        "entry",
        "Without an entry point there is no hierarchy.",
        Reject("missing", "metadata"),
        _STORED,
    )
    yield replace(gone, store={key: it for key, it in gone.store.items() if key != "zarr.json"})
    yield from _members()
    yield from _version()
    yield from _encoding()
    yield from _extensions()
    yield from _kept()


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
        yield _refused(
            f"no-json-{kind}",
            ("entry-json", "entry-object"),
            "The entry point is one JSON object.",
            text,
            also="missing",
        )
    for name in ("zarr_format", "metadata_encoding", "extensions"):
        yield _refused(
            f"without-{name.replace('_', '-')}",
            "entry-object",
            f"{name} is required.",
            entry(**{name: LEFT_OUT}),
            also="missing",
        )
    for kind, value in (("string", "a"), ("null", None), ("object", {"must_understand": False})):
        yield _refused(
            f"further-member-{kind}",
            "unknown-members",
            "A hierarchy with a member that is not known is not opened.",
            entry(nobodys=value),
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
        yield _refused(
            f"format-{kind}",
            "zarr-format",
            f"{value!r} is not the URI of the specification.",
            entry(zarr_format=value),
            also="missing",
        )
    for version in ("4.0", "2.0", "30.0"):
        yield _refused(
            f"format-{version}",
            ("version", "zarr-format"),
            "Another major version is another format.",
            entry(zarr_format=f"https://purl.org/zarr/spec/core/{version}"),
            also="extension",
        )
    minor = "https://purl.org/zarr/spec/core/3.1"
    yield _read(
        "format-3.1",
        ("compatible", "version"),
        "A later minor version can be read where nothing is used that is new.",
        entry(zarr_format=minor),
        Either(_READ),
    )
    yield _read(
        "format-3.1-further-member",
        ("minor", "compatible"),
        "What a later minor version adds may be ignored.",
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
        yield _refused(
            f"encoding-{kind}",
            "json-encoding",
            f"{value!r} does not choose JSON.",
            entry(metadata_encoding=value),
            also="extension",
        )
    yield _refused(
        "encoding-other-type",
        ("json-encoding", "transformer-required"),
        "The text has no other encoding than JSON.",
        entry(metadata_encoding=plain | {"type": "xml"}),
        "extension",
        "metadata",
    )
    other = {"extension": UNKNOWN, "type": "cbor", "metadata_key_suffix": ".cbor"}
    yield _refused(
        "encoding-extension",
        ("other-encoding-object", "other-encoding-uri", "transformer-required"),
        "An encoding that nobody knows is always required.",
        entry(metadata_encoding=other),
        "extension",
    )
    for name in other:
        yield _refused(
            f"encoding-extension-without-{name.replace('_', '-')}",
            "other-encoding-object",
            f"An encoding of an extension has {name}.",
            entry(metadata_encoding={key: it for key, it in other.items() if key != name}),
            also="extension",
        )
    yield _refused(
        "encoding-extension-no-uri",
        "other-encoding-uri",
        "An encoding of an extension is identified by a URI.",
        entry(metadata_encoding=other | {"extension": 1}),
        also="extension",
    )


def extension_objects() -> Iterator[tuple[str, Any, str]]:
    """Entries of ``extensions`` that are wrong, each with the clause that says so."""
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
        yield _refused(
            f"extensions-{kind}",
            "entry-object",
            "extensions is a list.",
            entry(extensions=value),
            also="extension",
        )
    for kind, value, clause in extension_objects():
        yield _refused(
            f"extension-{kind}",
            clause,
            f"{value!r} does not describe an extension.",
            entry(extensions=[value]),
            also="extension",
        )
    required = {"extension": UNKNOWN, "must_understand": True}
    optional = {"extension": UNKNOWN, "must_understand": False, "configuration": {"a": [1]}}
    yield _refused(
        "extension-required",
        "extension-refused",
        "An extension that nobody knows and that must be understood ends it.",
        entry(extensions=[required]),
        "extension",
    )
    yield _refused(
        "extension-required-behind-another",
        ("extension-refused", "extension-ignored"),
        "One that can be ignored does not let another be ignored.",
        entry(extensions=[optional, required | {"extension": f"{UNKNOWN}1"}]),
        "extension",
    )
    yield _read(
        "extension-ignored",
        (
            "extension-ignored",
            "extension-configuration",
            "compatible",
            "extension-uri",
            "extension-flag",
            "extension-refused",
        ),
        "An extension that nobody knows may be ignored if it says so.",
        entry(extensions=[optional]),
        Either(_READ),
    )


def _kept() -> Iterator[Case]:
    """Setting an attribute leaves the entry point alone."""
    optional = {"extension": UNKNOWN, "must_understand": False, "configuration": {"a": [1, 2.5]}}
    for kind, start in (("plain", entry()), ("extension", entry(extensions=[optional]))):
        after = Node(
            documents={"zarr.json": start, "meta/a.array.json": array(attributes={"harness": 1})},
            stored={"data/a/c0": raw(VALUES[:2])},
        )
        yield case(
            f"entry/kept-{kind}",
            ("entry", "attributes", "keys-documents"),
            "To set an attribute changes the document of the node, not the entry point.",
            Accept(after) if kind == "plain" else Either(after),
            _STORED,
            "update",
            start=start,
        )
