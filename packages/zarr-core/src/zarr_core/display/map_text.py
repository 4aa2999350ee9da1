"""A map of chunks as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.display.words import counted, nbytes_in_words

if TYPE_CHECKING:
    from zarr_core.display.chunk_map import ChunkMap

BARS = "▁▂▃▄▅▆▇█"
PARTLY = "░▒▓"
MISSING, FAILS = "·", "!"


def text(found: ChunkMap) -> str:
    """The whole of it: what was found, the map, what its signs mean."""
    return "\n".join([*summary(found), "", *rows(found), "", *legend(found)])


def summary(found: ChunkMap) -> list[str]:
    """What was found, in one or a few sentences."""
    numbers = found.to_dict()
    total, stored = numbers["total"], numbers["total_stored"]
    line = f"{found.name}: {stored:,} of {counted(total, found.unit)} stored"
    if numbers["total_nbytes"] is not None and stored:
        line += f", {nbytes_in_words(numbers['total_nbytes'])}"
        if numbers["total_nbytes_in_memory"] and numbers["total_nbytes"]:
            ratio = numbers["total_nbytes_in_memory"] / numbers["total_nbytes"]
            line += f", ratio {ratio:.1f}"
    lines = [line]
    words = ("rows: ", "columns: ")[2 - len(found.dims) :]
    axes = [
        f"{word}{name} ({counted(count, found.unit)})"
        for word, name, count in zip(words, found.dims, found.shape, strict=True)
    ]
    said = ", ".join([*axes, *([found.others] if found.others else [])])
    lines += [said] if said else []
    if any(each > 1 for each in found.per_cell):
        lines.append(f"{' x '.join(map(str, found.per_cell))} {found.unit}s a cell")
    if not found.complete:
        lines.append("there are more: only the first that the store lists were looked at")
    lines += found.problems
    return lines


def rows(found: ChunkMap) -> list[str]:
    """The map: a sign for each cell."""
    if not found.chunks.size:
        return [f"(no {found.unit}s)"]
    return ["".join(map(str, row)) for row in np.atleast_2d(_signs(found))]


def legend(found: ChunkMap) -> list[str]:
    """What the signs that occur mean."""
    there = set("".join(rows(found)))
    said = [f"{MISSING} not stored"] if MISSING in there else []
    said += [f"{' '.join(PARTLY)} partly stored"] if there & {*PARTLY} else []
    said += [f"{FAILS} no smaller than in memory"] if FAILS in there else []
    largest = largest_mean(found)
    if there & {*BARS} and largest:
        said.append(f"{BARS[0]} to {BARS[-1]} up to {nbytes_in_words(largest)} a {found.unit}")
    elif there & {*BARS}:
        said.append(f"{BARS[-1]} stored")
    return ["  ".join(said)] if said else []


def largest_mean(found: ChunkMap) -> float:
    """Stored bytes of a chunk where they are most; 0 if that is not known."""
    mean = found.mean_nbytes
    return float(np.nanmax(mean)) if np.isfinite(mean).any() else 0.0


def _signs(found: ChunkMap) -> np.ndarray[Any, np.dtype[np.str_]]:
    largest = largest_mean(found)
    height = found.mean_nbytes / largest if largest else np.ones(found.chunks.shape)
    share = found.stored / np.maximum(found.chunks, 1)
    partly = _scaled(share, PARTLY)
    signs = np.where(found.stored < found.chunks, partly, _scaled(height, BARS))
    signs = np.where(found.incompressible > 0, FAILS, signs)
    return np.where(found.stored == 0, MISSING, signs)


def _scaled(values: np.ndarray[Any, Any], signs: str) -> np.ndarray[Any, np.dtype[np.str_]]:
    """The signs for numbers from 0 to 1, in equal steps."""
    level = np.ceil(np.nan_to_num(values) * len(signs)).astype(int) - 1
    table = np.array([*signs], np.str_)
    return np.asarray(table[np.clip(level, 0, len(signs) - 1)], np.str_)
