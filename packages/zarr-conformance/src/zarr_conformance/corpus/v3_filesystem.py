"""The file system store: keys and files."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from zarr_conformance.corpus.case import Accept, Case, Node
from zarr_conformance.corpus.case_tables import table_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYS = ("zarr.json", "a/zarr.json", "a/c/0/0", "a b/größe/.hidden", "a.b/c", "日本/x")
_FILES = {key: key.encode() for key in _KEYS}


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for number, key in enumerate(_KEYS):
        yield from _key(number, key)
    yield from table_cases("v3_filesystem", constants={"files": _FILES})


def _key(number: int, key: str) -> Iterator[Case]:
    """Yield cases that read, write and delete the value of a key."""
    others = {other: data for other, data in _FILES.items() if other != key}
    for kind, summary, node, call, store in (
        (
            "get",
            "The value of a key is the contents of the file at its path.",
            Node(results=(b64encode(key.encode()).decode(),)),
            ("get", key),
            _FILES,
        ),
        (
            "set",
            "A value is written to the file at the path of its key; directories are created.",
            Node(results=(None,), stored={key: b"\0new\xff"}),
            ("set", key, b64encode(b"\0new\xff").decode()),
            {},
        ),
        (
            "delete",
            "Deleting a key removes its file and no other.",
            Node(results=(None,), absent=(key,), stored=others),
            ("erase", key),
            _FILES,
        ),
    ):
        yield Case(
            f"v3-stores/filesystem/{kind}-{number}",
            (f"v3-stores.filesystem.{kind}", "v3-stores.filesystem.path"),
            summary,
            "store",
            Accept(node),
            store,
            calls=(call,),
        )
