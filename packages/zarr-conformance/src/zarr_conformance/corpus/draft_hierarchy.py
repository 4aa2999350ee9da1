"""Groups, node names and discovery in hierarchies of the draft of version 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.draft_metadata import UNKNOWN, array, case
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
    """Yield the cases."""
    yield from _root()
    yield from _groups()
    yield from _listed()
    yield from _invalid_groups()
    yield from _names()
    yield from _changed()


def _chunks(prefix: str, values: Any = _VALUES) -> dict[str, bytes]:
    return {f"{prefix}c0": raw(values[:2]), f"{prefix}c1": raw(values[2:])}


def _root() -> Iterator[Case]:
    yield case(
        "root/array",
        ("root-array", "keys-documents", "keys-chunks"),
        "The metadata of a root array is meta/array.json; its chunks are directly below data.",
        Accept(Node("array", (4,), values=Values(raw(_VALUES)))),
        {"meta/array.json": array(), **_chunks("data/")},
        "read",
        path="",
    )
    yield case(
        "root/group",
        ("root-group", "keys-documents", "group-document"),
        "The metadata of a root group is meta/group.json.",
        Accept(Node("group", attributes=_SOME)),
        {"meta/group.json": {"attributes": _SOME}},
        path="",
    )
    yield case(
        "root/implied",
        ("implied-groups", "exists", "group-document"),
        "An array implies a group at the root.",
        Accept(Node("group", attributes={})),
        {"meta/a.array.json": array()},
        path="",
    )
    yield case(
        "root/empty",
        "exists",
        "The specification does not define whether an entry point alone implies a root group.",
        Either(Node("group", attributes={})),
        {},
        path="",
    )
    yield case(
        "root/array-before-group",
        "exists",
        "Array metadata takes precedence over group metadata.",
        Accept(Node("array")),
        {"meta/array.json": array(), "meta/group.json": {"attributes": {}}},
        path="",
    )
    yield case(
        "root/of-an-older-dialect",
        ("keys-documents", "exists"),
        "meta/root.array.json is an array with the name root, not the root array.",
        Accept(Node("array", (4,))),
        {"meta/root.array.json": array()},
        path="root",
    )


def _groups() -> Iterator[Case]:
    for path in ("foo", "foo/baz"):
        yield case(
            f"groups/implied-{path.replace('/', '-')}",
            ("implied-groups", "exists", "group-children"),
            "A group is implied by the nodes below it.",
            Accept(Node("group", attributes={})),
            _TREE,
            path=path,
        )
    yield case(
        "groups/explicit",
        ("keys-documents", "group-document", "group-attributes", "group-extensions"),
        "A group may have a metadata document with attributes.",
        Accept(Node("group", attributes={"here": 1})),
        _TREE,
        path="foo/bar",
    )
    yield case(
        "groups/explicit-with-children",
        ("group-children", "group-document", "implied-groups"),
        "A group with a metadata document may have children.",
        Accept(Node("group", attributes=_SOME)),
        {**_TREE, "meta/foo.group.json": {"attributes": _SOME}},
        path="foo",
    )
    for kind, path in (("unknown", "nothing"), ("below-array", "a/b"), ("part-of-a-name", "fo")):
        yield case(
            f"groups/missing-{kind}",
            "exists",
            "Without a metadata document or a prefix there is no node.",
            Reject("missing"),
            {**_TREE, "meta/a.array.json": array()},
            path=path,
        )
    yield case(
        "groups/data-is-no-node",
        ("exists", "keys-documents"),
        "Only metadata documents imply nodes, chunks do not.",
        Reject("missing"),
        {**_TREE, **_chunks("data/ghost/")},
        path="ghost",
    )
    yield case(
        "groups/array-before-group",
        "exists",
        "With both metadata documents, the node is an array.",
        Accept(Node("array", (4,))),
        {"meta/a.array.json": array(), "meta/a.group.json": {"attributes": {}}},
    )
    yield case(
        "groups/array-before-implied",
        ("exists", "array-children"),
        "With nodes below an array, the node is an array.",
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
            "The children of a group are the nodes below its prefix, including implied groups.",
            Accept(Node("group", members=members)),
            _TREE,
            "list",
            path=path,
        )
    yield case(
        "list/chunks-are-no-nodes",
        ("children", "all-nodes"),
        "Keys below data do not imply nodes.",
        Accept(Node(members={"a": "array"})),
        {"meta/a.array.json": array(), **_chunks("data/a/"), **_chunks("data/ghost/")},
        "list",
        path="",
    )
    yield case(
        "list/explicit-and-prefix",
        ("children", "all-nodes"),
        "A group with both a metadata document and a prefix is one child.",
        Accept(Node(members={"foo": "group", "foo/a": "array"})),
        {"meta/foo.group.json": {"attributes": {}}, "meta/foo/a.array.json": array()},
        "list",
        path="",
    )
    yield case(
        "list/names-with-periods",
        ("children", "name-characters"),
        "The suffix of a metadata key gives the node type, the rest the name.",
        Accept(Node(members={"x.array": "array", "y.group": "group", "z.json": "array"})),
        {
            "meta/x.array.array.json": array(),
            "meta/y.group.group.json": {"attributes": {}},
            "meta/z.json.array.json": array(),
        },
        "list",
        path="",
    )


def _invalid_groups() -> Iterator[Case]:
    for kind, value, clause in (
        ("empty", b"", "documents-encoding"),
        ("cut", document({"attributes": {}})[:-4], "documents-encoding"),
        ("list", b"[]", "group-attributes"),
        ("without-attributes", {}, "group-attributes"),
        ("attributes-null", {"attributes": None}, "attributes"),
        ("attributes-list", {"attributes": []}, "attributes"),
        ("attributes-string", {"attributes": "a"}, "attributes"),
        ("further-member", {"attributes": {}, "unknown": 1}, "group-others"),
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
            "Group metadata is a JSON object with attributes only.",
            Reject("metadata", "extension"),
            {"meta/a.group.json": value},
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
            f"{name[:9]!r} is a valid node name.",
            Accept(Node("array", values=Values(raw(_VALUES)))),
            {f"meta/g/{name}.array.json": array(), **_chunks(f"data/g/{name}/")},
            "read",
            path=f"g/{name}",
        )
    yield case(
        "names/case",
        ("names-case", "store-case"),
        "Node names are case-sensitive: foo and FOO differ.",
        Reject("missing"),
        {"meta/foo.array.json": array()},
        path="FOO",
    )
    for kind, name in (("one-period", "."), ("two-periods", ".."), ("three-periods", "...")):
        yield case(
            f"names/no-{kind}",
            "name-periods",
            "A node name does not consist of periods only.",
            Reject("metadata", "missing"),
            {"meta/g/a.array.json": array(), "meta/a.array.json": array()},
            path=f"g/{name}",
        )
    for kind, name in (("upper", "FOO"), ("lower", "foo")):
        yield case(
            f"names/case-{kind}",
            ("names-case", "store-case", "name-periods"),
            "Node names keep their case.",
            Accept(Node(members={name: "array"})),
            {f"meta/{name}.array.json": array()},
            "list",
            path="",
        )
    for kind, name in (("letter", "é"), ("space", "a b"), ("at", "a@b"), ("tilde", "~a")):
        yield case(
            f"names/other-{kind}",
            "name-characters",
            "The name is invalid; reading an existing node with it may succeed or fail.",
            Either(Node("array")),
            {f"meta/{name}.array.json": array()},
            path=name,
        )


def _changed() -> Iterator[Case]:
    whole = {"attributes": _SOME}
    yield case(
        "groups/changed",
        ("group-attributes", "group-others", "attribute-keys"),
        "Setting an attribute of a group keeps the others.",
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
            "Setting an attribute may convert an implied group to an explicit group.",
            Either(Node(documents={key: {"attributes": {"harness": 1}}})),
            _TREE,
            "update",
            path=path,
        )
