"""Group documents of version 3, what lies below them, how nodes are named."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.documents import LEFT_OUT, array, group
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.of_text import case_of
from zarr_conformance.corpus.v3_array import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator


_WRONG: dict[str, dict[str, Any]] = {
    "zarr_format": {"2": 2, "4": 4, "string": "3", "null": None, "missing": LEFT_OUT},
    "node_type": {"unknown": "folder", "null": None, "missing": LEFT_OUT, "number": 1},
    "attributes": {"list": [], "string": "a", "number": 1, "null": None},
}

_CONSOLIDATED = {"must_understand": False, "kind": "inline", "metadata": {}}

_NOT_CONSOLIDATED: dict[str, Any] = {
    "string": "inline",
    "list": [],
    "understood": _CONSOLIDATED | {"must_understand": True},
    "metadata-list": _CONSOLIDATED | {"metadata": []},
}

# Names that nodes cannot have, as far as a directory can be called that.
_NO_NAMES = {"three-periods": "...", "reserved": "__a", "reserved-alone": "__"}

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


_case = partial(case_of, "v3-core")


def cases() -> Iterator[Case]:
    """All of them."""
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
        "A document with both mandatory members and no other is a group.",
        Accept(Node("group")),
        {"zarr.json": group()},
    )
    yield _case(
        "group/attributes",
        ("group.attributes", "group.attributes-any"),
        "Attributes are whatever JSON can say.",
        Accept(Node("group", attributes=ATTRIBUTES)),
        {"zarr.json": group(attributes=ATTRIBUTES)},
    )
    for name, values in _WRONG.items():
        for kind, value in values.items():
            what = "without it" if value is LEFT_OUT else repr(value)
            yield _case(
                f"group/{name.replace('_', '-')}-{kind}",
                f"group.{name.replace('_', '-')}",
                f"A document whose {name} is not that of a group is none: {what}.",
                Reject("metadata"),
                {"zarr.json": group(**{name: value})},
            )
    yield _case(
        "group/no-document",
        ("group.document", "storage.exists"),
        "A prefix that leads to a node is no group by itself.",
        Reject("missing"),
        {"a/zarr.json": group()},
    )
    yield _case(
        "group/consolidated",
        ("group.consolidated", "group.consolidated-form"),
        "A group may hold the documents of what is below it.",
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
        "A group may say that there is nothing below it.",
        Accept(Node("group")),
        {"zarr.json": group(consolidated_metadata=_CONSOLIDATED)},
    )
    for name, value in _NOT_CONSOLIDATED.items():
        yield _case(
            f"group/consolidated-{name}",
            "group.consolidated-form",
            "What is called consolidated_metadata and does not have its form is wrong.",
            Reject("metadata"),
            {"zarr.json": group(consolidated_metadata=value)},
        )


def _names() -> Iterator[Case]:
    for kind, name in _NAMES.items():
        document_like = ("names.not-zarr-json",) if name.endswith("zarr.json") else ()
        yield _case(
            f"names/{kind}",
            ("names.string", "names.utf-8", "keys.node-document", *document_like),
            f"A node may be called {name!r}.",
            Accept(Node("array", (4,))),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            path=name,
        )
        yield _case(
            f"names/{kind}-listed",
            ("names.string", "names.utf-8", "storage.children"),
            f"A node called {name!r} is listed by that name.",
            Accept(Node(members={name: "array"})),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            "list",
        )
    for kind, name in _NO_NAMES.items():
        clause = "names.not-periods" if "." in name else "names.not-reserved"
        # To create one is wrong; that a reader opens what somebody has put there harms nobody.
        yield Case(
            f"v3-core/names/{kind}-created",
            (f"v3-core.{clause}",),
            f"No node is made that is called {name!r}.",
            "create",
            Reject("metadata"),
            {"zarr.json": document(group())},
            name,
            document=array(),
        )
        yield _case(
            f"names/{kind}",
            clause,
            f"{name!r} names no node, yet a reader may open what is there.",
            Either(Node("array")),
            {"zarr.json": group(), f"{name}/zarr.json": array()},
            path=name,
        )
        if "." in name:
            continue  # to discover children, only what begins with __ is left out
        yield _case(
            f"names/{kind}-listed",
            "storage.children",
            f"What is called {name!r} is not listed as a node.",
            Accept(Node(members={"a": "array"})),
            {"zarr.json": group(), f"{name}/zarr.json": array(), "a/zarr.json": array()},
            "list",
        )
    for kind, name, clause in (
        ("document", "zarr.json", "names.not-zarr-json"),
        ("empty-inside", "a//b", "names.not-empty"),
        ("parent", "a/../a", "names.not-periods"),
        ("self", "a/.", "names.not-periods"),
    ):
        # Libraries may take such paths for another spelling of a node's own.
        other = Either(Node("array")) if kind != "document" else Reject("missing")
        yield _case(
            f"names/path-{kind}",
            clause,
            f"{name!r} has a part that is no name.",
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
        "Names are compared by their code points: composed and decomposed are two nodes.",
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
        ("storage.children", "keys.node-document"),
        "The nodes below a group are those with documents.",
        Accept(Node("group", members=members)),
        tree,
        "list",
    )
    yield _case(
        "hierarchy/listed-below",
        "storage.children",
        "A group below the root is listed by itself.",
        Accept(Node("group", members={"b": "array", "c": "group", "c/d": "array"})),
        tree,
        "list",
        "a",
    )
    yield _case(
        "hierarchy/attributes-below",
        "keys.node-document",
        "A node has its own document.",
        Accept(Node("group", attributes={"n": 1})),
        tree,
        path="a",
    )
    yield _case(
        "hierarchy/deep",
        ("keys.node-document", "keys.array-data"),
        "A path may have many parts.",
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
        "What lies below an array is not a node of the hierarchy.",
        Accept(Node(members={"a": "array"})),
        {"zarr.json": group(), "a/zarr.json": array(), "a/b/zarr.json": array()},
        "list",
    )
    yield _case(
        "hierarchy/no-implicit-groups",
        "storage.children",
        "A prefix without a document is no group, so what is below it is not reached.",
        Accept(Node(members={"b": "group"})),
        {"zarr.json": group(), "a/b/zarr.json": array(), "b/zarr.json": group()},
        "list",
    )
    yield _case(
        "hierarchy/foreign-keys",
        "storage.children",
        "Keys that are no documents make no nodes.",
        Accept(Node(members={"a": "array"})),
        {"zarr.json": group(), "a/zarr.json": array(), "readme.txt": b"hello", "notes/x": b"y"},
        "list",
    )
    yield _case(
        "hierarchy/missing",
        "storage.exists",
        "A path without a document is no node.",
        Reject("missing"),
        tree,
        path="a/x",
    )
