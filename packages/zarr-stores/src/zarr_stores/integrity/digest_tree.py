"""A hash tree over the values of a hierarchy, which does not depend on the store.

The value of each key is a record: its size, as 8 bytes, big-endian, and its SHA-256.  The name of
a record is the SHA-256 of the key in UTF-8.  A set of at most 256 records is a leaf, whose digest
is the SHA-256 of a zero byte and, in the order of their names, each name and record.  A larger set
is divided by the first byte of the names, each of these 256 subsets by the second byte, and so on;
its digest is the SHA-256 of a one byte and the 256 digests of the subsets, where 32 zero bytes
stand for an empty one.

The digest depends only on the keys and values, not on the order of changes.  A change of one of a
million values computes three digests.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_LEAF = 256
_EMPTY = bytes(32)


def _key_name(key: str) -> bytes:
    """Return the name of the record of a key."""
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


class DigestTree:
    """The digest of a set of records, updated by changes."""

    def __init__(self, records: Mapping[str, bytes]) -> None:
        self._root = _Node({_key_name(key): record for key, record in records.items()}, 0)

    def set(self, key: str, record: bytes | None) -> None:
        """Replace the record of a key; None removes it."""
        self._root.set(_key_name(key), record, 0)

    def digest(self) -> str:
        """Return the digest of all records, in hexadecimal digits."""
        return self._root.digest().hex()


class _Node:
    """A subset of the records: a leaf with records, or a branch with subsets."""

    __slots__ = ("_digest", "branches", "count", "records")

    def __init__(self, records: dict[bytes, bytes], depth: int) -> None:
        self._digest: bytes | None = None
        self.count = len(records)
        self.records = records
        self.branches: dict[int, _Node] | None = None
        if self.count > _MAX_LEAF:
            self._divide(depth)

    def _divide(self, depth: int) -> None:
        parts: dict[int, dict[bytes, bytes]] = {}
        for name, record in self.records.items():
            parts.setdefault(name[depth], {})[name] = record
        self.records = {}
        self.branches = {byte: _Node(part, depth + 1) for byte, part in parts.items()}

    def set(self, name: bytes, record: bytes | None, depth: int) -> None:
        self._digest = None
        if self.branches is None:
            if record is None:
                self.records.pop(name, None)
            else:
                self.records[name] = record
            self.count = len(self.records)
            if self.count > _MAX_LEAF:
                self._divide(depth)
            return
        branch = self.branches.get(name[depth])
        if branch is None:
            branch = self.branches[name[depth]] = _Node({}, depth + 1)
        self.count -= branch.count
        branch.set(name, record, depth + 1)
        self.count += branch.count
        if self.count <= _MAX_LEAF:
            self.records = self.all_records()
            self.branches = None

    def all_records(self) -> dict[bytes, bytes]:
        """Return the records of a leaf, or of all leaves below a branch."""
        if self.branches is None:
            return self.records
        records: dict[bytes, bytes] = {}
        for branch in self.branches.values():
            records |= branch.all_records()
        return records

    def digest(self) -> bytes:
        if self._digest is None:
            if self.branches is None:
                records = self.records
                content = b"".join(name + records[name] for name in sorted(records))
                self._digest = sha256(b"\0" + content).digest()
            else:
                parts = [_EMPTY] * 256
                for byte, branch in self.branches.items():
                    if branch.count:
                        parts[byte] = branch.digest()
                self._digest = sha256(b"\1" + b"".join(parts)).digest()
        return self._digest
