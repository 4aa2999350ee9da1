"""The cost of converting an array."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import ZarrError
from zarr_core.tools import create_extension

from zarr_transfer.chunk_keys import ChunkKeys, keys_unchanged, same_keys
from zarr_transfer.conversion.to_format import problems_of
from zarr_transfer.plan import CopyStep

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata

    from zarr_transfer.conversion.plan_array import Choice
    from zarr_transfer.plan import Cost
    from zarr_transfer.spec import CopySpec

_COUNTED = 10_000  # maximum number of chunks that are counted


def estimate(spec: CopySpec, path: str, metadata: ArrayMetadata, choice: Choice) -> CopyStep:
    """Return the step for an array with its new metadata."""
    problems = choice.problems
    if choice.metadata is not None:
        try:
            old = ChunkKeys.of(spec.source, path, choice.model)
            new = ChunkKeys.of(spec.dest, path, choice.metadata)
            cost = _cost(old, new, choice)
            if cost == "recode" and choice.unreadable:
                problems = choice.unreadable
                return CopyStep(path, "array", "nothing", 0, 0, problems, choice.notes, metadata)
            chunks, nbytes = _amount(old, new, cost, choice)
            notes, fills = choice.notes, choice.fills and cost != "recode"
            if fills:
                missing = _missing(old)
                fills = missing != 0
                chunks = None if missing is None or chunks is None else chunks + missing
                count = "" if missing is None else f" ({missing})"
                notes += (f"chunks that are not stored are written{count}",) * fills
            return CopyStep(
                path, "array", cost, chunks, nbytes, (), notes,
                source_metadata=choice.model, metadata=choice.metadata, fills=fills,
            )  # fmt: skip
        except (ZarrError, ValueError) as error:
            problems = problems_of(error)
    assert problems, "a choice without metadata has problems"
    return CopyStep(path, "array", "nothing", 0, 0, problems, choice.notes, metadata)


def _cost(old: ChunkKeys, new: ChunkKeys, choice: Choice) -> Cost:
    if choice.recode:
        return "recode"
    if keys_unchanged(old, new):
        return "document"
    if old.verbatim and not same_keys(old.encoding, new.encoding, len(old.counts)):
        return "recode"  # only the transformers know the keys
    return "copy"


def _missing(keys: ChunkKeys) -> int | None:
    """Return the number of chunks that are not stored; None if it is unknown."""
    if not keys.side.store.supports_listing or keys.most > _COUNTED:
        return None
    return keys.most - sum(1 for _ in keys.stored())


def _amount(
    old: ChunkKeys, new: ChunkKeys, cost: Cost, choice: Choice
) -> tuple[int | None, int | None]:
    """Return the numbers of chunks that are written and of bytes that are read."""
    if cost == "document":
        return 0, 0
    if cost == "recode":
        data_type = create_extension("data_type", choice.model.data_type)
        size = None if data_type is None else data_type.item_size
        return new.most, None if size is None else size * prod(choice.model.shape)
    store = old.side.store
    if old.verbatim or not store.supports_listing:
        return None, None
    if old.most > _COUNTED:
        return old.most, None
    sizes = [store.getsize(key) or 0 for _, key in old.stored()]
    return len(sizes), sum(sizes)
