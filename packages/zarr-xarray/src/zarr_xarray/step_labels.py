"""Which of the given steps are new, repeated or late, by their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    OnDuplicate = Literal["raise", "skip", "replace"]
    OnUnordered = Literal["raise", "append"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where given steps are stored.

    Parameters
    ----------
    new : ndarray of int
        The given steps to append, in this order.
    replacing, replaced : ndarray of int
        Given steps, and the positions of the stored steps that they replace.
    """

    new: np.ndarray[Any, Any]
    replacing: np.ndarray[Any, Any]
    replaced: np.ndarray[Any, Any]


_NOTHING = np.arange(0)


def all_new(count: int) -> Placement:
    """Return the placement of steps that are all appended."""
    return Placement(np.arange(count), _NOTHING, _NOTHING)


def as_labels(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return labels that can be compared; texts of several data types cannot."""
    return values.astype(object) if values.dtype.kind in "UT" else values


def greatest(labels: np.ndarray[Any, Any]) -> Any:
    """Return the greatest label; None if there are none."""
    if not len(labels):
        return None
    return max(labels) if labels.dtype == object else labels.max()


def is_increasing(labels: np.ndarray[Any, Any], last: Any) -> bool:
    """Whether labels are strictly increasing, and greater than ``last`` unless it is None.

    False if a label is missing (NaN or NaT).
    """
    if not len(labels):
        return True
    if last is not None and not labels[0] > last:
        return False
    if len(labels) == 1:
        return bool(labels[0] == labels[0])
    return bool((labels[1:] > labels[:-1]).all())


def place(
    labels: np.ndarray[Any, Any],
    stored: np.ndarray[Any, Any],
    name: str,
    on_duplicate: OnDuplicate,
    on_unordered: OnUnordered,
) -> Placement:
    """Compare the labels of given steps with those of stored steps.

    Raises
    ------
    ValueError
        If a label is missing, repeated or not greater than the one before, unless allowed.
    """
    given = pd.Index(labels)
    if given.hasnans:
        missing = int(np.flatnonzero(given.isna())[0])
        raise ValueError(f"{name!r} has a missing label (NaN or NaT) at position {missing}")
    known = pd.Index(stored)
    order = {"skip": "first", "replace": "last"}
    repeated = given.duplicated(order.get(on_duplicate, "first"))  # type: ignore[arg-type]
    found = _first_positions(known, given)
    exists = found >= 0
    if on_duplicate == "raise" and (repeated | exists).any():
        first = given[repeated | exists][0]
        raise ValueError(
            f"the label {first} of {name!r} is already there; pass on_duplicate='skip' to ignore "
            "such steps, or 'replace' to overwrite them"
        )
    candidates = np.flatnonzero(~exists)
    if on_duplicate == "replace":
        # A repeated label keeps its first position and has its last elements.
        positions: dict[Any, int] = {}
        for step in candidates:
            positions[given[step]] = int(step)
        new = np.fromiter(positions.values(), int, len(positions))
        replacing = np.flatnonzero(exists & ~repeated)
    else:
        new = candidates[~repeated[candidates]]
        replacing = _NOTHING
    last = greatest(stored)
    if on_unordered == "raise" and not is_increasing(labels[new], last):
        raise ValueError(
            f"the labels of {name!r} are not increasing after {last}; pass "
            "on_unordered='append' to store them in the order in which they come"
        )
    return Placement(new, replacing, found[replacing])


def _first_positions(known: pd.Index, given: pd.Index) -> np.ndarray[Any, Any]:
    if not len(known):
        return np.full(len(given), -1)
    positions = np.flatnonzero(~known.duplicated())
    found = known[positions].get_indexer(given)
    return np.where(found >= 0, positions[found], -1)

