"""Groups, names, discovery in a hierarchy of the draft of version 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.draft_documents import UNKNOWN, array, case
from zarr_conformance.corpus.encode import document, raw

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = np.array([5, 6, 7, 8], "<i4")
_SOME: Any = {"spam": "ham", "eggs": 42, "é": [None, {"a": 1.5}]}
_TREE = {
    "meta/foo/bar.group.json": {"attributes": {"here": 1}},
    "meta/foo/baz/qux.array.json": array(),
}
"""The example of the section on discovery."""


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _root()
    yield from _groups()
    yield from _listed()
    yield from _wrong_groups()
    yield from _names()
    yield from _changed()


def _chunks(prefix: str, values: Any = _VALUES) -> dict[str, bytes]:
    return {f"{prefix}c0": raw(values[:2]), f"{prefix}c1": raw(values[2:])}


def _root() -> Iterator[Case]:
    yield case(
        "root/array",
        ("root-array", "keys-documents", "keys-chunks"),
        "An array at the root is meta/array.json, its chunks lie directly below data.",
        Accept(Node("array", (4,), values=Values(raw(_VALUES)))),
        {"meta/array.json": array(), **_chunks("data/")},
        "read",
        path="",
    )
    yield case(
        "root/group",
        ("root-group", "keys-documents", "group-document"),
        "A group at the root is meta/group.json.",
        Accept(Node("group", attributes=_SOME)),
        {"meta/group.json": {"attributes": _SOME}},
        path="",
    )
    yield case(
        "root/implied",
        ("implied-groups", "exists", "group-document"),
        "An array implies the group at the root.",
        Accept(Node("group", attributes={})),
        {"meta/a.array.json": array()},
        path="",
    )
    yield case(
        "root/empty",
        "exists",
        "The text leaves open whether there is a group where nothing but the entry point is.",
        Either(Node("group", attributes={})),
        {},
        path="",
    )
    yield case(
        "root/array-before-group",
        "exists",
        "The document of an array is looked for first.",
        Accept(Node("array")),
        {"meta/array.json": array(), "meta/group.json": {"attributes": {}}},
        path="",
    )
    yield case(
        "root/of-an-older-dialect",
        ("keys-documents", "exists"),
        "meta/root.array.json is an array called root, not the root.",
        Accept(Node("array", (4,))),
        {"meta/root.array.json": array()},
        path="root",
    )


def _groups() -> Iterator[Case]:
    for path in ("foo", "foo/baz"):
        yield case(
            f"groups/implied-{path.replace('/', '-')}",
            ("implied-groups", "exists", "group-children"),
            "A group is implied by what lies below it.",
            Accept(Node("group", attributes={})),
            _TREE,
            path=path,
        )
    yield case(
        "groups/explicit",
        ("keys-documents", "group-document", "group-attributes", "group-extensions"),
        "A group may have a document with attributes.",
        Accept(Node("group", attributes={"here": 1})),
        _TREE,
        path="foo/bar",
    )
    yield case(
        "groups/explicit-with-children",
        ("group-children", "group-document", "implied-groups"),
        "A group with a document may have children.",
        Accept(Node("group", attributes=_SOME)),
        {**_TREE, "meta/foo.group.json": {"attributes": _SOME}},
        path="foo",
    )
    for kind, path in (("unknown", "nothing"), ("below-array", "a/b"), ("part-of-a-name", "fo")):
        yield case(
            f"groups/missing-{kind}",
            "exists",
            "There is no node where neither a document nor a prefix is.",
            Reject("missing"),
            {**_TREE, "meta/a.array.json": array()},
            path=path,
        )
    yield case(
        "groups/data-is-no-node",
        ("exists", "keys-documents"),
        "Chunks do not imply a node; documents do.",
        Reject("missing"),
        {**_TREE, **_chunks("data/ghost/")},
        path="ghost",
    )
    yield case(
        "groups/array-before-group",
        "exists",
        "Where both documents are, the node is an array.",
        Accept(Node("array", (4,))),
        {"meta/a.array.json": array(), "meta/a.group.json": {"attributes": {}}},
    )
    yield case(
        "groups/array-before-implied",
        ("exists", "array-children"),
        "Where something lies below an array, the node is an array.",
        Accept(Node("array", (4,))),
        {"meta/a.array.json": array(), "meta/a/b.array.json": array()},
    )


def _listed() -> Iterator[Case]:
    for kind, path, members in (
        (
            "root",
            "",
            {"foo": "group", "foo/bar": "group", "foo/baz": "group", "foo/baz/qux": "array"},
        ),
        ("foo", "foo", {"bar": "group", "baz": "group", "baz/qux": "array"}),
        ("baz", "foo/baz", {"qux": "array"}),
        ("bar", "foo/bar", {}),
    ):
        yield case(
            f"list/{kind}",
            ("children", "all-nodes", "implied-groups"),
            "Children are what lies below the prefix of a group, implied groups among them.",
            Accept(Node("group", members=members)),
            _TREE,
            "list",
            path=path,
        )
    yield case(
        "list/chunks-are-no-nodes",
        ("children", "all-nodes"),
        "What lies below data is no node.",
        Accept(Node(members={"a": "array"})),
        {"meta/a.array.json": array(), **_chunks("data/a/"), **_chunks("data/ghost/")},
        "list",
        path="",
    )
    yield case(
        "list/explicit-and-prefix",
        ("children", "all-nodes"),
        "A group that has both a document and a prefix is one child.",
        Accept(Node(members={"foo": "group", "foo/a": "array"})),
        {"meta/foo.group.json": {"attributes": {}}, "meta/foo/a.array.json": array()},
        "list",
        path="",
    )
    yield case(
        "list/names-with-periods",
        ("children", "name-characters"),
        "The kind of a node is what its key ends in; what comes before is its name.",
        Accept(Node(members={"x.array": "array", "y.group": "group", "z.json": "array"})),
        {
            "meta/x.array.array.json": array(),
            "meta/y.group.group.json": {"attributes": {}},
            "meta/z.json.array.json": array(),
        },
        "list",
        path="",
    )


def _wrong_groups() -> Iterator[Case]:
    for kind, told, clause in (
        ("empty", b"", "documents-encoding"),
        ("cut", document({"attributes": {}})[:-4], "documents-encoding"),
        ("list", b"[]", "group-attributes"),
        ("without-attributes", {}, "group-attributes"),
        ("attributes-null", {"attributes": None}, "attributes"),
        ("attributes-list", {"attributes": []}, "attributes"),
        ("attributes-string", {"attributes": "a"}, "attributes"),
        ("further-member", {"attributes": {}, "nobodys": 1}, "group-others"),
        ("extensions", {"attributes": {}, "extensions": []}, "group-extensions"),
        (
            "extension-ignored",
            {
                "attributes": {},
                "extensions": [{"extension": UNKNOWN, "must_understand": False}],
            },
            "group-extensions",
        ),
        (
            "of-version-3",
            {"zarr_format": 3, "node_type": "group", "attributes": {}},
            "group-others",
        ),
    ):
        more = ("unknown-members", "group-others") if "extension" in kind else ()
        yield case(
            f"groups/refused-{kind}",
            (clause, *more),
            "The document of a group is a JSON object with attributes, nothing else.",
            Reject("metadata", "extension"),
            {"meta/a.group.json": told},
        )


def _names() -> Iterator[Case]:
    for kind, name in (
        ("all-kinds", "Az09-_."),
        ("digit", "0"),
        ("hyphen", "-"),
        ("underscores", "__a__"),
        ("period-first", ".a"),
        ("period-last", "a."),
        ("two-periods-within", "a..b"),
        ("array", "x.array"),
        ("group", "x.group"),
        ("zarr-json", "zarr.json"),
        ("chunk", "c0"),
        ("meta", "meta"),
        ("data", "data"),
        ("long", "n" * 200),
    ):
        yield case(
            f"names/{kind}",
            ("name-characters", "keys-documents", "keys-chunks"),
            f"{name[:9]!r} is a name.",
            Accept(Node("array", values=Values(raw(_VALUES)))),
            {f"meta/g/{name}.array.json": array(), **_chunks(f"data/g/{name}/")},
            "read",
            path=f"g/{name}",
        )
    yield case(
        "names/case",
        ("names-case", "store-case"),
        "foo is not FOO.",
        Reject("missing"),
        {"meta/foo.array.json": array()},
        path="FOO",
    )
    for kind, name in (("one-period", "."), ("two-periods", ".."), ("three-periods", "...")):
        yield case(
            f"names/no-{kind}",
            "name-periods",
            "A name does not consist of periods alone.",
            Reject("metadata", "missing"),
            {"meta/g/a.array.json": array(), "meta/a.array.json": array()},
            path=f"g/{name}",
        )
    for kind, name in (("upper", "FOO"), ("lower", "foo")):
        yield case(
            f"names/case-{kind}",
            ("names-case", "store-case", "name-periods"),
            "A name is what it is, in its case.",
            Accept(Node(members={name: "array"})),
            {f"meta/{name}.array.json": array()},
            "list",
            path="",
        )
    for kind, name in (("letter", "é"), ("space", "a b"), ("at", "a@b"), ("tilde", "~a")):
        yield case(
            f"names/other-{kind}",
            "name-characters",
            "Such a name is not to be given; what becomes of one that is there is open.",
            Either(Node("array")),
            {f"meta/{name}.array.json": array()},
            path=name,
        )


def _changed() -> Iterator[Case]:
    whole = {"attributes": _SOME}
    yield case(
        "groups/changed",
        ("group-attributes", "group-others", "attribute-keys"),
        "To set an attribute of a group keeps the others.",
        Accept(Node(documents={"meta/g.group.json": {"attributes": {**_SOME, "harness": 1}}})),
        {"meta/g.group.json": whole},
        "update",
        path="g",
    )
    for kind, path, key in (
        ("group", "foo", "meta/foo.group.json"),
        ("root", "", "meta/group.json"),
    ):
        yield case(
            f"groups/implied-{kind}-changed",
            ("make-explicit", "keys-documents"),
            "An implied group may be made explicit, by a document with its attributes.",
            Either(Node(documents={key: {"attributes": {"harness": 1}}})),
            _TREE,
            "update",
            path=path,
        )
