"""The order in which the keys of a hierarchy are written or removed.

Visible nodes are complete: metadata is written after chunks, and that of members before that
of their groups.  Keys are removed in the opposite order.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from zarr_core.formats.lookup import formats_without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.interfaces.format import Format

_PATH = "path-of-a-node"  # a path that is found in the keys of a format


class KeyOrder:
    """Distinguishes metadata documents from other keys, and orders keys for writing.

    ``formats`` are those whose metadata documents are known; iterated with the first key.
    """

    def __init__(self, formats: Iterable[Format]) -> None:
        self._formats = formats

    def is_document(self, key: str) -> bool:
        """Whether a key may be a metadata document."""
        return self._rank(key) is not None

    def to_write(self, keys: Iterable[str]) -> tuple[list[str], list[list[str]]]:
        """Split keys into sorted values, written first in any order, and steps of documents.

        The documents of a step may be written in any order, after the previous steps.
        """
        values: list[str] = []
        steps: dict[tuple[int, int], list[str]] = {}
        for key in sorted(keys):
            rank = self._rank(key)
            if rank is None:
                values.append(key)
            else:
                steps.setdefault((-key.count("/"), -rank), []).append(key)
        return values, [steps[step] for step in sorted(steps)]

    def documents_to_remove(self, keys: Iterable[str]) -> list[list[str]]:
        """The metadata documents among keys, in steps; parents first."""
        names, ends, _ = self._documents
        # For speed: most keys are chunks.
        maybe = [key for key in keys if key.rpartition("/")[2] in names or key.endswith(ends)]
        return self.to_write(filter(self.is_document, maybe))[1][::-1]

    def _rank(self, key: str) -> int | None:
        """0 for a detection key, 1 for another metadata document, None for other keys."""
        names, ends, patterns = self._documents
        rank = names.get(key.rpartition("/")[2])
        if rank is None and key.endswith(ends):
            for start, end, found in patterns:
                if key.endswith(end) and start in f"/{key}":
                    return found
        return rank

    @cached_property
    def _documents(
        self,
    ) -> tuple[dict[str, int], tuple[str, ...], list[tuple[str, str, int]]]:
        """Ranks by file name; ends of other keys; start, end and rank of other keys."""
        names: dict[str, int] = {}
        patterns: list[tuple[str, str, int]] = []
        for format_ in self._formats:
            for key in (*format_.documents(_PATH), *format_.documents("")):
                name = key.rpartition("/")[2]
                rank = int(name not in format_.detection_keys)
                before, path, after = key.partition(_PATH)
                if key in (name, f"{_PATH}/{name}"):
                    names[name] = min(rank, names.get(name, rank))
                elif path:
                    patterns.append((f"/{before}", after, rank))
                else:
                    patterns.append((f"/{key}", key, rank))
        return names, tuple({end for _, end, _ in patterns}), patterns


def key_order(format_: Format | None = None) -> KeyOrder:
    """The order of keys for all installed formats, and ``format_``, which need not be installed.

    A node may have metadata of several formats.
    """

    def formats() -> Iterable[Format]:
        if format_ is not None:
            yield format_
        yield from formats_without("" if format_ is None else format_.name)

    return KeyOrder(formats())
