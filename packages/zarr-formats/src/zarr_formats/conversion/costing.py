"""What converting an array costs."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import ZarrError, make_extension

from zarr_formats.conversion.chunk_keys import ChunkKeys, stay
from zarr_formats.conversion.expressing import problems_of
from zarr_formats.conversion.sameness import same_keys
from zarr_formats.conversion.steps import Step

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata

    from zarr_formats.conversion.choosing import Choice
    from zarr_formats.conversion.steps import Cost, Side

_COUNTED = 10_000  # stored objects that an array has at most for them to be counted


def costed(source: Side, dest: Side, path: str, metadata: ArrayMetadata, choice: Choice) -> Step:
    """The step for an array whose new metadata have been chosen."""
    problems = choice.problems
    if choice.metadata is not None:
        try:
            old = ChunkKeys.of(source, path, choice.model)
            new = ChunkKeys.of(dest, path, choice.metadata)
            cost = _cost(old, new, choice)
            if cost == "recode" and choice.unreadable:
                problems = choice.unreadable
                return Step(path, "array", "nothing", 0, 0, problems, choice.notes, metadata)
            chunks, nbytes = _amount(old, new, cost, choice)
            return Step(
                path, "array", cost, chunks, nbytes, (), choice.notes,
                source_metadata=choice.model, metadata=choice.metadata,
            )  # fmt: skip
        except (ZarrError, ValueError) as error:
            problems = problems_of(error)
    assert problems, "what has no new metadata has a reason"
    return Step(path, "array", "nothing", 0, 0, problems, choice.notes, metadata)


def _cost(old: ChunkKeys, new: ChunkKeys, choice: Choice) -> Cost:
    if choice.recode:
        return "recode"
    if stay(old, new):
        return "document"
    if old.verbatim and not same_keys(old.encoding, new.encoding, len(old.counts)):
        return "recode"  # only the transformers know which keys there are
    return "copy"


def _amount(
    old: ChunkKeys, new: ChunkKeys, cost: Cost, choice: Choice
) -> tuple[int | None, int | None]:
    """Stored objects that are written, bytes that are read."""
    if cost == "document":
        return 0, 0
    if cost == "recode":
        data_type = make_extension("data_type", choice.model.data_type)
        size = None if data_type is None else data_type.item_size
        return new.most, None if size is None else size * prod(choice.model.shape)
    store = old.side.store
    if old.verbatim or not store.supports_listing:
        return None, None
    if old.most > _COUNTED:
        return old.most, None
    sizes = [store.getsize(key) or 0 for _, key in old.stored()]
    return len(sizes), sum(sizes)
