"""Groups, paths and attributes of version 2."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_builder import build_case
from zarr_conformance.corpus.v2_array import array
from zarr_conformance.corpus.v3_array import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator


GROUP = {"zarr_format": 2}
_ONE = array(shape=[2], chunks=[2])


_case = partial(build_case, "v2", zarr_format=2)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _groups()
    yield from _attributes()
    yield from _paths()


def _groups() -> Iterator[Case]:
    yield _case(
        "groups/plain",
        ("groups.document", "groups.zarr-format"),
        "A group exists if .zgroup exists.",
        Accept(Node("group")),
        {".zgroup": GROUP},
    )
    yield _case(
        "groups/no-document",
        "groups.document",
        "A group without .zgroup does not exist.",
        Reject("missing"),
        {"a/.zgroup": GROUP},
    )
    wrong: dict[str, Any] = {
        "format-1": {"zarr_format": 1},
        "format-3": {"zarr_format": 3},
        "format-string": {"zarr_format": "2"},
        "format-missing": {},
        "json-cut": b'{"zarr_format"',
        "json-list": b"[2]",
        "json-empty": b"",
    }
    for kind, value in wrong.items():
        yield _case(
            f"groups/{kind}",
            "groups.zarr-format",
            f"The group metadata is invalid: {kind.replace('-', ' ')}.",
            Reject("metadata"),
            {".zgroup": value},
        )
    yield _case(
        "groups/other-member",
        "groups.other",
        "Other fields are not permitted, but readers may ignore them.",
        Either(Node("group")),
        {".zgroup": GROUP | {"unknown": 1}},
    )
    tree: dict[str, Any] = {
        ".zgroup": GROUP,
        "foo/.zgroup": GROUP,
        "foo/bar/.zgroup": GROUP,
        "foo/baz/.zarray": _ONE,
        "foo/baz/0": bytes(8),
        "loose.txt": b"hello",
        "nothing/here": b"hello",
    }
    members = {"foo": "group", "foo/bar": "group", "foo/baz": "array"}
    yield _case(
        "groups/listed",
        "groups.members",
        "The members of a group are the nodes below it.",
        Accept(Node("group", members=members)),
        tree,
        "list",
    )
    yield _case(
        "groups/listed-below",
        "groups.members",
        "The members of a group are the nodes directly below its path.",
        Accept(Node("group", members={"bar": "group", "baz": "array"})),
        tree,
        "list",
        "foo",
    )
    for path, clauses in (("a", ("groups.array-parents",)), ("a/b/c", ("groups.array-parents",))):
        parts = path.split("/")
        parents = ["/".join((*parts[:n], ".zgroup")) for n in range(len(parts))]
        yield _case(
            f"groups/parents-{len(parts)}",
            clauses,
            "Creating an array creates groups at all parent paths, including the root.",
            Accept(
                Node(
                    documents={**dict.fromkeys(parents, GROUP), f"{path}/.zarray": _ONE},
                    stored={f"{path}/0": b"\1\0\0\0\2\0\0\0"},
                    values=Values(b"\1\0\0\0\2\0\0\0"),
                )
            ),
            {},
            "create",
            path,
            document=_ONE,
        )
    yield _case(
        "groups/parents-that-are-there",
        "groups.array-parents",
        "Existing groups are kept.",
        Accept(Node(documents={".zgroup": GROUP, ".zattrs": {"a": 1}, "a/.zgroup": GROUP})),
        {".zgroup": GROUP, ".zattrs": {"a": 1}},
        "create",
        "a/b",
        document=_ONE,
    )


def _attributes() -> Iterator[Case]:
    for kind, name, node in (("array", ".zarray", _ONE), ("group", ".zgroup", GROUP)):
        yield _case(
            f"attributes/{kind}",
            ("attributes.document", "attributes.any"),
            "Attribute values may be any JSON value.",
            Accept(Node(attributes=ATTRIBUTES)),
            {name: node, ".zattrs": ATTRIBUTES},
        )
        yield _case(
            f"attributes/{kind}-none",
            "attributes.absent",
            "A node without .zattrs has no attributes.",
            Accept(Node(attributes={})),
            {name: node},
        )
        for wrong, value in (("list", b"[]"), ("cut", b'{"a"'), ("text", b"a"), ("empty", b"")):
            yield _case(
                f"attributes/{kind}-{wrong}",
                "attributes.document",
                "Attributes that are not one JSON object are invalid.",
                Reject("metadata"),
                {name: node, ".zattrs": value},
            )
        yield _case(
            f"attributes/{kind}-set",
            ("attributes.document", "attributes.any"),
            "Setting an attribute keeps the others and the metadata of the node.",
            Accept(Node(documents={".zattrs": {"a": 2**53 - 1, "harness": 1}, name: node})),
            {name: node, ".zattrs": {"a": 2**53 - 1}},
            "update",
        )
        yield _case(
            f"attributes/{kind}-first",
            ("attributes.document", "attributes.absent"),
            "Setting the first attribute creates .zattrs.",
            Accept(Node(documents={".zattrs": {"harness": 1}, name: node})),
            {name: node},
            "update",
        )


def _paths() -> Iterator[Case]:
    tree: dict[str, Any] = {
        ".zgroup": GROUP,
        "foo/.zgroup": GROUP,
        "foo/bar/.zarray": _ONE,
        "foo/bar/0": b"\1\0\0\0\2\0\0\0",
    }
    right = Accept(Node("array", values=Values(b"\1\0\0\0\2\0\0\0")))
    for kind, path, clause in (
        ("plain", "foo/bar", "paths.prefix"),
        ("backslash", "foo\\bar", "paths.backslash"),
        ("leading", "//foo/bar", "paths.leading"),
        ("trailing", "foo/bar//", "paths.trailing"),
        ("collapse", "foo///bar", "paths.collapse"),
        ("all", "\\/foo\\\\/bar/", "paths.backslash"),
    ):
        resolved = path != "foo/bar"
        yield _case(
            f"paths/{kind}",
            (clause, "paths.prefix"),
            f"{path!r} is normalized to foo/bar.",
            right,
            tree,
            "resolve" if resolved else "read",
            "foo/bar",
            spelling=path if resolved else "",
        )
    yield _case(
        "paths/dots-in-names",
        ("paths.dots", "paths.prefix"),
        "A path segment may contain periods and other characters.",
        right,
        {key.replace("foo/bar", "foo/.b..r"): value for key, value in tree.items()},
        "read",
        "foo/.b..r",
    )
    for kind, path in (
        ("one", "foo/./bar"),
        ("two", "foo/../foo/bar"),
        ("first", "../foo/bar"),
        ("last", "foo/bar/.."),
        ("backslash", "foo\\..\\foo\\bar"),
    ):
        yield _case(
            f"paths/dots-{kind}",
            "paths.dots",
            f"{path!r} has a segment of periods only.",
            Reject("missing", "metadata"),
            tree,
            path=path,
        )
    yield _case(
        "paths/outside",
        "paths.dots",
        "Paths cannot refer to keys outside the store.",
        Reject("metadata", "missing"),
        {".zgroup": GROUP},
        "create",
        "../outside",
        document=_ONE,
    )
