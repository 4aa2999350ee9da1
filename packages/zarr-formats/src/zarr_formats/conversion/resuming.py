"""How far the decoding of an array has come, noted beside it until it is done."""

from __future__ import annotations

import hashlib
import json
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.extension import MetadataError, StoreError, strictjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_formats.conversion.regions import Box, Intervals
    from zarr_formats.conversion.steps import Side, Step

NAME = ".conversion"
"""What the note is called; overwriting a hierarchy removes it like a document."""

_EVERY = 2.0  # seconds between notes


class Journal:
    """The note on one array.

    Parameters
    ----------
    source, dest, step
        What is converted.
    stages : sequence of sequences of Intervals
        What is gone through, one after the other; each in boxes.
    verify : bool
        Whether what is done was verified.
    """

    def __init__(
        self,
        source: Side,
        dest: Side,
        step: Step,
        stages: Sequence[Sequence[Intervals]],
        *,
        verify: bool,
    ) -> None:
        assert step.source_metadata is not None
        assert step.metadata is not None
        self._store = dest.store
        self._key = dest.format_.chunk_prefix(dest.at(step.path)) + NAME
        # Goes on only with the very same: other boxes or codecs begin anew.
        work = [
            str(source.store),
            source.at(step.path),
            source.format_.to_json(step.source_metadata),
            dest.format_.to_json(step.metadata),
            [[[axis.size, axis.length, axis.starts] for axis in cut] for cut in stages],
            verify,
        ]
        text = json.dumps(work, sort_keys=True).encode()
        self._work = hashlib.sha256(text).hexdigest()
        # Archives that keep everything that was ever written get no notes.
        self._possible = dest.store.supports_erasing
        self._stage = 0
        self._last: list[int] | None = None
        self._noted: list[int | list[int]] | None = None
        self._when = monotonic()

    def begin(self) -> int | None:
        """The stage to go on with; None if there is nothing to go on from."""
        data = self._store.get(self._key) if self._possible else None
        if data is None:
            return None
        self._noted = []  # there is one, to be removed in the end
        try:
            note: Any = strictjson.loads(bytes(data))
        except MetadataError:
            return None
        if not isinstance(note, dict) or note.get("work") != self._work:
            return None
        self._noted = note["done"]
        self._stage, self._last = note["done"]
        return self._stage

    def left(self, stage: int, boxes: Iterable[Box]) -> Iterator[tuple[bool, Box]]:
        """All boxes of a stage in their order, each with whether it is done."""
        if stage != self._stage:
            self._stage, self._last = stage, None
        last = self._last
        for box in boxes:
            yield last is not None and _start(box) <= last, box

    def done(self, box: Box) -> None:
        """Note that a box, and all before it, is written."""
        self._last = _start(box)
        if monotonic() - self._when >= _EVERY:
            self.write()

    def write(self) -> None:
        """Store the note, if it says anything new."""
        self._when = monotonic()
        now: list[int | list[int]] | None
        now = None if self._last is None else [self._stage, self._last]
        if self._possible and now is not None and now != self._noted:
            note = json.dumps({"work": self._work, "done": now})
            try:
                self._store.set(self._key, note.encode())
            except StoreError:  # it takes documents and chunks alone: then one begins anew
                self._possible = False
            else:
                self._noted = now

    def end(self) -> None:
        """All is done; the document says so."""
        if self._noted is not None:
            self._store.erase(self._key)


def _start(box: Box) -> list[int]:
    return [part.start for part in box]
