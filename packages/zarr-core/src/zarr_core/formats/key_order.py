"""The order in which the keys of a hierarchy are written or removed.

Visible nodes are complete: metadata is written after chunks, and that of members before that
of their groups.  Keys are removed in the opposite order.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from zarr_core.registry.resolve import formats_without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store

_PATH = "NODEPATH"  # a path that is found in the keys of a format


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

    def erase_documents(self, store: Store, keys: Iterable[str]) -> None:
        """Remove the metadata documents among keys, parents first."""
        for step in self.to_write(filter(self.is_document, keys))[1][::-1]:
            store.erase_values(step)

    def _rank(self, key: str) -> int | None:
        """0 for a detection key, 1 for another metadata document, None for other keys."""
        ends, patterns = self._documents
        if key.endswith(ends):  # for speed: most keys are chunks
            for rank, matches in enumerate(patterns):
                if matches(f"/{key}"):
                    return rank
        return None

    @cached_property
    def _documents(self) -> tuple[tuple[str, ...], list[Callable[[str], object]]]:
        """The ends of all documents; patterns of detection keys and of other documents."""
        ends: set[str] = set()
        patterns: tuple[list[str], list[str]] = [], []
        for format_ in self._formats:
            for key in (*format_.documents(_PATH), *format_.documents("")):
                ends.add(key.rpartition(_PATH)[2])
                rank = int(key.rpartition("/")[2] not in format_.detection_keys)
                patterns[rank].append(".*/" + re.escape(key).replace(_PATH, ".+"))
        return tuple(ends), [re.compile("|".join(of), re.DOTALL).fullmatch for of in patterns]


def key_order(format_: Format | None = None) -> KeyOrder:
    """The order of keys for all installed formats, and ``format_``, which need not be installed.

    A node may have metadata of several formats.
    """
    others = formats_without("" if format_ is None else format_.name)
    return KeyOrder(others if format_ is None else [format_, *others])
