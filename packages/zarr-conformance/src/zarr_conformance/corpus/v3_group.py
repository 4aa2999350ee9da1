"""Group metadata of version 3, members of groups and node names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_builder import build_case
from zarr_conformance.corpus.encode import document, json_text
from zarr_conformance.corpus.metadata import OMITTED, array, group
from zarr_conformance.corpus.v3_array import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator


_INVALID: dict[str, dict[str, Any]] = {
    "zarr_format": {"2": 2, "4": 4, "string": "3", "null": None, "missing": OMITTED},
    "node_type": {"unknown": "folder", "null": None, "missing": OMITTED, "number": 1},
    "attributes": {"list": [], "string": "a", "number": 1, "null": None},
}

_CONSOLIDATED = {"must_understand": False, "kind": "inline", "metadata": {}}

_INVALID_CONSOLIDATED: dict[str, Any] = {
    "string": "inline",
    "list": [],
    "understood": _CONSOLIDATED | {"must_understand": True},
    "metadata-list": _CONSOLIDATED | {"metadata": []},
}

# Invalid node names that a directory can have.
_INVALID_NAMES = {"three-periods": "...", "reserved": "__a", "reserved-alone": "__"}

_NAMES = {
    "space": "a b",
    "accent": "é",
    "decomposed": "e\u0301",
    "kanji": "配列",
    "emoji": "🌍",
    "hidden": ".a",
    "document-like": "a.zarr.json",
    "period-inside": "a.b",
    "underscore": "_a",
    "percent": "a%20b",
    "plus": "a+b",
    "chunk-like": "c",
    "number": "0",
    "colon": "a:b",
    "quote": "a'b",
    "hash": "a#b?c",
    "long": "n" * 200,
    "capital": "ZARR.JSON",
}


_case = partial(build_case, "v3-core")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _documents()
    yield from _names()
    yield from _hierarchies()


def _documents() -> Iterator[Case]:
    yield _case(
        "group/plain",
        (
            "group.zarr-format",
            "group.node-type",
            "group.document",
            "extensions.unknown-group",
            "group.attributes-optional",
            "hierarchy.root-group",
            "names.root",
        ),
        "Group metadata with exactly the mandatory fields is valid.",
        Accept(Node("group")),
        {"zarr.json": group()},
    )
    yield _case(
        "group/attributes",
        ("group.attributes", "group.attributes-any"),
        "Attribute values may be any JSON value.",
        Accept(Node("group", attributes=ATTRIBUTES)),
        {"zarr.json": group(attributes=ATTRIBUTES)},
    )
    for name, values in _INVALID.items():
        for kind, value in values.items():
            what = "missing" if value is OMITTED else json_text(value)
            yield _case(
                f"group/{name.replace('_', '-')}-{kind}",
                f"group.{name.replace('_', '-')}",
                f"Group metadata with an invalid {name}: {what}.",
                Reject("metadata"),
                {"zarr.json": group(**{name: value})},
            )
    yield _case(
        "group/no-document",
        ("group.document", "storage.exists"),
        "A parent path without a metadata document is not a group.",
        Reject("missing"),
        {"a/zarr.json": group()},
    )
    yield _case(
        "group/consolidated",
        ("group.consolidated", "group.consolidated-form"),
        "A group may contain the metadata of its descendants.",
        Accept(Node("group", members={"a": "array"})),
        {
            "zarr.json": group(consolidated_metadata=_CONSOLIDATED | {"metadata": {"a": array()}}),
            "a/zarr.json": array(),
        },
        "list",
    )
    yield _case(
        "group/consolidated-empty",
        ("group.consolidated", "group.consolidated-form"),
        "Consolidated metadata may be empty.",
        Accept(Node("group")),
        {"zarr.json": group(consolidated_metadata=_CONSOLIDATED)},
    )
    for name, value in _INVALID_CONSOLIDATED.items():
        yield _case(
            f"group/consolidated-{name}",
            "group.consolidated-form",
            "consolidated_metadata of another form is invalid.",
            Reject("metadata"),
            {"zarr.json": group(consolidated_metadata=value)},
        )


def _names() -> Iterator[Case]:
    for kind, name in _NAMES.items():
        document_like = ("names.not-zarr-json",) if name.endswith("zarr.json") else ()
        yield _case(
            f"names/{kind}",
            ("names.string", "names.utf-8", "keys.node-document", *document_like),
            f"{name!r} is a valid node name.",
            Accept(Node("array", (4,))),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            path=name,
        )
        yield _case(
            f"names/{kind}-listed",
            ("names.string", "names.utf-8", "storage.children"),
            f"A node with the name {name!r} is listed.",
            Accept(Node(members={name: "array"})),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            "list",
        )
    for kind, name in _INVALID_NAMES.items():
        clause = "names.not-periods" if "." in name else "names.not-reserved"
        # Creating such a node is an error; readers may open an existing one.
        yield Case(
            f"v3-core/names/{kind}-created",
            (f"v3-core.{clause}",),
            f"A node with the name {name!r} is not created.",
            "create",
            Reject("metadata"),
            {"zarr.json": document(group())},
            name,
            document=array(),
        )
        yield _case(
            f"names/{kind}",
            clause,
            f"{name!r} is not a valid node name, but readers may open an existing node.",
            Either(Node("array")),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            path=name,
        )
        if "." in name:
            continue  # discovery of children ignores only names that begin with __
        # The section is a guideline, and xarray writes such nodes, so readers may list them.
        yield _case(
            f"names/{kind}-listed",
            "storage.children",
            f"A group with a member {name!r} is listed with or without that member.",
            Either(Node("group")),
            {"zarr.json": group(), f"{name}/zarr.json": array(), "a/zarr.json": array()},
            "list",
        )
    for kind, name, clause in (
        ("document", "zarr.json", "names.not-zarr-json"),
        ("empty-inside", "a//b", "names.not-empty"),
        ("parent", "a/../a", "names.not-periods"),
        ("self", "a/.", "names.not-periods"),
    ):
        # Some libraries normalize such paths.
        other = Either(Node("array")) if kind != "document" else Reject("missing")
        yield _case(
            f"names/path-{kind}",
            clause,
            f"{name!r} has an invalid segment.",
            other,
            {"zarr.json": group(), "a/zarr.json": array(), "a/b/zarr.json": array()},
            path=name,
        )
    yield _case(
        "names/case",
        ("names.case", "stores.case"),
        "Names that differ in case are two nodes.",
        Accept(Node(members={"a": "array", "A": "group"})),
        {"zarr.json": group(), "a/zarr.json": array(), "A/zarr.json": group()},
        "list",
    )
    yield _case(
        "names/composition",
        "names.string",
        "Names are compared by code points: composed and decomposed forms are two nodes.",
        Accept(Node(members={"é": "array", "e\u0301": "group"})),
        {"zarr.json": group(), "é/zarr.json": array(), "e\u0301/zarr.json": group()},
        "list",
    )


def _hierarchies() -> Iterator[Case]:
    deep = "/".join("abcdefgh")
    tree: dict[str, Any] = {
        "zarr.json": group(),
        "a/zarr.json": group(attributes={"n": 1}),
        "a/b/zarr.json": array(),
        "a/b/c/0": bytes(8),
        "a/c/zarr.json": group(),
        "a/c/d/zarr.json": array(),
        "e/zarr.json": group(),
    }
    members = {"a": "group", "a/b": "array", "a/c": "group", "a/c/d": "array", "e": "group"}
    yield _case(
        "hierarchy/listed",
        ("storage.children", "storage.all-nodes", "keys.node-document"),
        "The nodes below a group are those with metadata documents.",
        Accept(Node("group", members=members)),
        tree,
        "list",
    )
    yield _case(
        "hierarchy/listed-below",
        "storage.children",
        "A group below the root is listed.",
        Accept(Node("group", members={"b": "array", "c": "group", "c/d": "array"})),
        tree,
        "list",
        "a",
    )
    yield _case(
        "hierarchy/attributes-below",
        "keys.node-document",
        "Each node has its own metadata document.",
        Accept(Node("group", attributes={"n": 1})),
        tree,
        path="a",
    )
    yield _case(
        "hierarchy/deep",
        ("keys.node-document", "keys.array-data"),
        "A path may have many segments.",
        Accept(Node(values=Values(b"\1\0\0\0\2\0\0\0" + bytes(8)))),
        {
            **{f"{deep[: 2 * n + 1]}/zarr.json": group() for n in range(7)},
            "zarr.json": group(),
            f"{deep}/zarr.json": array(),
            f"{deep}/c/0": b"\1\0\0\0\2\0\0\0",
        },
        "read",
        deep,
    )
    yield _case(
        "hierarchy/array-at-the-root",
        ("hierarchy.root-array", "keys.root-document", "names.root"),
        "The root may be an array.",
        Accept(Node("array", (4,))),
        {"zarr.json": array()},
    )
    yield _case(
        "hierarchy/node-below-an-array",
        "hierarchy.array-has-no-children",
        "Keys below an array are not nodes of the hierarchy.",
        Accept(Node(members={"a": "array"})),
        {"zarr.json": group(), "a/zarr.json": array(), "a/b/zarr.json": array()},
        "list",
    )
    yield _case(
        "hierarchy/no-implicit-groups",
        "storage.children",
        "A prefix without a metadata document may be omitted or listed; the text describes both.",
        Either(Node("group")),
        {"zarr.json": group(), "a/b/zarr.json": array(), "b/zarr.json": group()},
        "list",
    )
    yield _case(
        "hierarchy/foreign-keys",
        "storage.children",
        "Keys other than metadata documents are not nodes.",
        Accept(Node(members={"a": "array"})),
        {"zarr.json": group(), "a/zarr.json": array(), "readme.txt": b"hello", "notes/x": b"y"},
        "list",
    )
    yield _case(
        "hierarchy/missing",
        "storage.exists",
        "A path without a metadata document is not a node.",
        Reject("missing"),
        tree,
        path="a/x",
    )
