"""The file system store: keys and files."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Values
from zarr_conformance.corpus.encode import document, raw
from zarr_conformance.corpus.metadata import array, group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEYS = ("zarr.json", "a/zarr.json", "a/c/0/0", "a b/größe/.hidden", "a.b/c", "日本/x")
_FILES = {key: key.encode() for key in _KEYS}


def _text(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode()


def _case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    node: Node,
    *calls: Any,
    store: Mapping[str, bytes] | None = None,
) -> Case:
    return Case(
        f"v3-stores/filesystem/{name}",
        tuple(f"v3-stores.filesystem.{it}" for it in clauses),
        summary,
        "store",
        Accept(node),
        _FILES if store is None else store,
        calls=calls,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for number, key in enumerate(_KEYS):
        yield _case(
            f"get-{number}",
            ("get", "path"),
            "The value of a key is the contents of the file at its path.",
            Node(results=(_text(key.encode()),)),
            ("get", key),
        )
        yield _case(
            f"set-{number}",
            ("set", "path"),
            "A value is written to the file at the path of its key; directories are created.",
            Node(results=(None,), stored={key: b"\0new\xff"}),
            ("set", key, _text(b"\0new\xff")),
            store={},
        )
        yield _case(
            f"delete-{number}",
            ("delete", "path"),
            "Deleting a key removes its file and no other.",
            Node(
                results=(None,),
                absent=(key,),
                stored={other: it for other, it in _FILES.items() if other != key},
            ),
            ("erase", key),
        )
    yield _case(
        "delete-directory",
        ("delete", "path"),
        "Deleting a prefix removes its directory with all files.",
        Node(
            results=(None, ["a b/größe/.hidden", "a.b/c", "zarr.json", "日本/x"]),
            absent=("a/zarr.json", "a/c/0/0"),
        ),
        ("erase_prefix", "a/"),
        ("list",),
    )
    yield _case(
        "set-twice",
        ("set",),
        "A shorter value replaces a longer one.",
        Node(results=(None,), stored={"zarr.json": b"x"}),
        ("set", "zarr.json", _text(b"x")),
    )
    yield _case(
        "set-empty",
        ("set", "get"),
        "A value may be empty, which is not the same as missing.",
        Node(results=(None, "", None), stored={"a/e": b""}),
        ("set", "a/e", ""),
        ("get", "a/e"),
        ("get", "a/f"),
    )
    yield _case(
        "list",
        ("list", "key"),
        "All files are listed, with their paths as keys.",
        Node(results=(sorted(_KEYS),)),
        ("list",),
    )
    for number, (prefix, keys) in enumerate(
        (
            ("a/", ["a/c/0/0", "a/zarr.json"]),
            ("a/c/", ["a/c/0/0"]),
            ("a b/", ["a b/größe/.hidden"]),
            ("日本/", ["日本/x"]),
            ("missing/", []),
        )
    ):
        yield _case(
            f"list-prefix-{number}",
            ("list-prefix", "key"),
            "The files below a directory are listed.",
            Node(results=(keys,)),
            ("list_prefix", prefix),
        )
    for number, (prefix, files, directories) in enumerate(
        (
            ("", ["zarr.json"], ["a b/", "a.b/", "a/", "日本/"]),
            ("a/", ["a/zarr.json"], ["a/c/"]),
            ("a b/", [], ["a b/größe/"]),
            ("missing/", [], []),
        )
    ):
        yield _case(
            f"list-dir-{number}",
            ("list-dir", "key"),
            "The files and directories of a directory are listed.",
            Node(results=([files, directories],)),
            ("list_dir", prefix),
        )
    yield Case(
        "v3-stores/filesystem/no-scheme",
        ("v3-stores.filesystem.no-scheme",),
        "A path without a scheme is a base directory.",
        "open",
        Accept(Node("group")),
        {"zarr.json": document(group())},
    )
    values = np.arange(1, 5, dtype="<i4")
    yield Case(
        "v3-core/names/core-data",
        ("v3-core.names.core-data", "v3-core.storage.children"),
        "Keys below __zarr are not nodes.",
        "list",
        Accept(Node(members={"a": "array"})),
        {
            "zarr.json": document(group()),
            "a/zarr.json": document(array()),
            "a/c/0": raw(values[:2]),
            "__zarr/state": b"\0",
        },
    )
    yield Case(
        "v3-core/names/core-data-in-array",
        ("v3-core.names.core-data",),
        "Keys below __zarr do not change an array.",
        "read",
        Accept(Node(values=Values(raw(values)))),
        {
            "zarr.json": document(array()),
            "c/0": raw(values[:2]),
            "c/1": raw(values[2:]),
            "__zarr/c/0": b"\0",
        },
    )
