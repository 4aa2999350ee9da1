"""The abstract store interface of version 3 in a directory; creating and deleting nodes."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import array, group

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYS = ("zarr.json", "a/zarr.json", "a/c/0", "a/c/1", "ab/zarr.json", "A/zarr.json")
_STORE = {key: key.encode() for key in _KEYS}
_DIGITS = {"a/k": b"0123456789"}

# Calls, their results, and the clauses.
_CALLS: dict[str, tuple[tuple[Any, ...], Any, tuple[str, ...]]] = {
    "get": (("get", "a/c/0"), b"a/c/0", ("operations", "one-value")),
    "get-missing": (("get", "a/c/9"), None, ("operations",)),
    "get-case": (("get", "A/zarr.json"), b"A/zarr.json", ("case",)),
    "list": (("list",), sorted(_KEYS), ("operations", "capabilities")),
    "list-prefix": (
        ("list_prefix", "a/"),
        ["a/c/0", "a/c/1", "a/zarr.json"],
        ("list-prefix", "operations"),
    ),
    "list-prefix-missing": (("list_prefix", "b/"), [], ("list-prefix",)),
    "list-dir": (("list_dir", "a/"), [["a/zarr.json"], ["a/c/"]], ("list-dir", "operations")),
    "list-dir-root": (("list_dir", ""), [["zarr.json"], ["A/", "a/", "ab/"]], ("list-dir",)),
    "list-dir-missing": (("list_dir", "b/"), [[], []], ("list-dir",)),
}

_RANGES: dict[str, tuple[list[Any], bytes]] = {
    "whole": ([0, None], b"0123456789"),
    "start": ([3, None], b"3456789"),
    "length": ([3, 4], b"3456"),
    "first": ([0, 1], b"0"),
    "nothing": ([3, 0], b""),
    "last": ([9, 1], b"9"),
}


def _text(value: Any) -> Any:
    return b64encode(value).decode() if isinstance(value, bytes) else value


def _case(
    name: str, clauses: tuple[str, ...], summary: str, expect: Any, store: Any, *calls: Any
) -> Case:
    return Case(
        f"v3-core/stores/{name}",
        tuple(f"v3-core.stores.{it}" for it in clauses),
        summary,
        "store",
        expect,
        store,
        calls=calls,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _reading()
    yield from _changing()
    yield from _nodes()


def _reading() -> Iterator[Case]:
    for name, (call, result, clauses) in _CALLS.items():
        yield _case(
            name,
            clauses,
            f"{call[0]} returns what the store contains.",
            Accept(Node(results=(_text(result),))),
            _STORE,
            call,
        )
    yield _case(
        "get-prefix",
        ("operations",),
        "A prefix of other keys has no value; on a file system it is a directory.",
        Either(Node(results=(None,))),
        _STORE,
        ("get", "a"),
    )
    for name, (part, result) in _RANGES.items():
        yield _case(
            f"range-{name}",
            ("range", "get-partial-values", "partial-fallback", "optional"),
            "A byte range has a start and a length, or extends to the end.",
            Accept(Node(results=([_text(result)],))),
            _DIGITS,
            ("get_partial_values", [["a/k", part]]),
        )
    yield _case(
        "range-order",
        ("get-partial-values", "optional", "key"),
        "Parts are returned in the requested order, none for missing keys; keys may be repeated.",
        Accept(Node(results=([_text(b"9"), None, _text(b"01"), _text(b"9")],))),
        _DIGITS,
        (
            "get_partial_values",
            [["a/k", [9, 1]], ["a/x", [0, 1]], ["a/k", [0, 2]], ["a/k", [9, 1]]],
        ),
    )
    for name, key in (("slash", "a/"), ("slash-only", "/")):
        yield _case(
            f"key-{name}",
            ("key",),
            f"{key!r} ends in a slash and is not a valid key.",
            Reject("metadata", "other"),
            _STORE,
            ("get", key),
        )


def _changing() -> Iterator[Case]:
    new = _text(b"new")
    yield _case(
        "set",
        ("operations", "one-value"),
        "A key has the value that was set last.",
        Accept(Node(results=(None, new), stored={"a/k": b"new"})),
        _DIGITS,
        ("set", "a/k", new),
        ("get", "a/k"),
    )
    yield _case(
        "set-case",
        ("case", "operations"),
        "Keys are case-sensitive.",
        Accept(
            Node(results=(None, None, new, ""), stored={"foo": b"new", "FOO": b""}),
        ),
        {},
        ("set", "foo", new),
        ("set", "FOO", ""),
        ("get", "foo"),
        ("get", "FOO"),
    )
    yield _case(
        "set-partial-values",
        ("range", "optional", "operations"),
        "Parts of a value are replaced at their offsets.",
        Accept(Node(results=(None,), stored={"a/k": b"01new567xy"})),
        _DIGITS,
        ("set_partial_values", [["a/k", 2, new], ["a/k", 8, _text(b"xy")]]),
    )
    yield _case(
        "erase",
        ("operations",),
        "A deleted key has no value; other keys are kept.",
        Accept(Node(results=(None, None), absent=("a/c/0",), stored={"a/c/1": b"a/c/1"})),
        _STORE,
        ("erase", "a/c/0"),
        ("get", "a/c/0"),
    )
    yield _case(
        "erase-values",
        ("operations", "optional"),
        "Several keys are deleted.",
        Accept(Node(results=(None,), absent=("a/c/0", "zarr.json"), stored={"a/c/1": b"a/c/1"})),
        _STORE,
        ("erase_values", ["a/c/0", "zarr.json"]),
    )
    yield _case(
        "erase-prefix",
        ("operations",),
        "All keys below a prefix are deleted, others with the same first letters are kept.",
        Accept(
            Node(
                results=(None, ["A/zarr.json", "ab/zarr.json", "zarr.json"]),
                absent=("a/zarr.json", "a/c/0", "a/c/1"),
            )
        ),
        _STORE,
        ("erase_prefix", "a/"),
        ("list",),
    )


def _nodes() -> Iterator[Case]:
    tree = {
        "zarr.json": document(group()),
        "a/zarr.json": document(group()),
        "a/b/zarr.json": document(array()),
        "a/b/c/0": bytes(8),
        "ab/zarr.json": document(array()),
    }
    for name, path, gone, kept in (
        ("array", "a/b", ("a/b/zarr.json", "a/b/c/0"), ("a/zarr.json", "ab/zarr.json")),
        (
            "group",
            "a",
            ("a/zarr.json", "a/b/zarr.json", "a/b/c/0"),
            ("zarr.json", "ab/zarr.json"),
        ),
    ):
        yield Case(
            f"v3-core/storage/erase-{name}",
            ("v3-core.storage.erase",),
            f"Deleting the {name} deletes all keys below its path, and no others.",
            "erase",
            Accept(Node(absent=gone, stored={key: tree[key] for key in kept})),
            tree,
            path,
        )
    for what, clauses, summary, keys in (
        (
            "group-created",
            ("v3-core.keys.node-document", "v3-core.group.document"),
            "A new group has a metadata document.",
            ("a/b/zarr.json",),
        ),
        (
            "group-created-with-ancestors",
            ("v3-core.storage.ancestors",),
            "Creating a group creates the groups above it.",
            ("zarr.json", "a/zarr.json", "a/b/zarr.json"),
        ),
    ):
        yield Case(
            f"v3-core/storage/{what}",
            clauses,
            summary,
            "create",
            Accept(Node(documents={key: {"zarr_format": 3, "node_type": "group"} for key in keys})),
            path="a/b",
            document=group(),
        )
    yield Case(
        "v2/groups/group-created",
        ("v2.groups.group-parents", "v2.groups.document", "v2.groups.other"),
        "Creating a group creates the groups above it; their metadata has one field.",
        "create",
        Accept(
            Node(
                stored=None,
                documents={
                    key: {"zarr_format": 2} for key in (".zgroup", "a/.zgroup", "a/b/.zgroup")
                },
            )
        ),
        path="a/b",
        zarr_format=2,
        document={"zarr_format": 2},
    )
