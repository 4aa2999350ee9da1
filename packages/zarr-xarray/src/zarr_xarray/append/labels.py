"""Which of the given steps are new, repeated or late, by their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_xarray.encoded_elements import is_missing

if TYPE_CHECKING:
    from collections.abc import Collection

    OnDuplicate = Literal["raise", "skip", "replace"]
    OnUnordered = Literal["raise", "append"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where given steps are stored; all are arrays of indices."""

    new: np.ndarray[Any, Any]  # given steps to append, in this order
    replacing: np.ndarray[Any, Any]  # given steps that replace stored ones
    replaced: np.ndarray[Any, Any]  # positions of the stored steps that they replace


_NOTHING = np.arange(0)


def all_new(count: int) -> Placement:
    """Return the placement of steps that are all appended."""
    return Placement(np.arange(count), _NOTHING, _NOTHING)


def as_labels(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return labels that can be compared; texts of several data types cannot."""
    return values.astype(object) if values.dtype.kind in "UT" else values


def concatenate(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return all labels; numbers of several data types do not change."""
    if one.dtype != other.dtype and one.dtype.kind not in "mM":
        one, other = one.astype(object), other.astype(object)
    return np.concatenate([one, other])


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


def compare_labels(
    labels: np.ndarray[Any, Any],
    stored: np.ndarray[Any, Any],
    name: str,
    where: str,
    on_duplicate: OnDuplicate,
    on_unordered: OnUnordered,
) -> Placement:
    """Compare the labels of given steps with those of stored steps, with the policies of Appender.

    ``name`` is the coordinate with the labels, ``where`` the group, for error messages.
    """
    missing = is_missing(labels)
    if missing.any():
        raise ValueError(
            f"cannot append to {where}: {name!r} has a missing label (NaN or NaT) at position "
            f"{int(missing.argmax())} of the given steps; remove this step or set its label"
        )
    known: dict[Any, int] = {}
    if labels.dtype.kind in "mM" and stored.dtype.kind == labels.dtype.kind:
        # Times of several resolutions are equal, but not their numbers.
        dtype = np.result_type(labels, stored)
        labels, stored = labels.astype(dtype), stored.astype(dtype)
    values = labels.tolist()  # numbers of Python: those of several data types are equal exactly
    for position, label in enumerate(stored.tolist()):
        known.setdefault(label, position)
    added: dict[Any, int] = {}
    replaced: dict[int, int] = {}
    for step, label in enumerate(values):
        if on_duplicate == "raise" and (label in known or label in added):
            raise ValueError(
                f"cannot append to {where}: the label {labels[step]} of {name!r} already exists; "
                "pass on_duplicate='skip' to ignore such steps, or 'replace' to overwrite them"
            )
        if on_duplicate == "replace" and label in known:
            replaced[known[label]] = step
        elif label not in known and (on_duplicate == "replace" or label not in added):
            added[label] = step
    new = _integers(added.values())
    last = greatest(stored)
    if on_unordered == "raise" and not is_increasing(labels[new], last):
        raise ValueError(
            f"cannot append to {where}: the labels of {name!r} are not increasing after {last}; "
            "sort the steps, or pass on_unordered='append' to store them in the given order"
        )
    return Placement(new, _integers(replaced.values()), _integers(replaced))


def _integers(values: Collection[int]) -> np.ndarray[Any, Any]:
    return np.fromiter(values, int, len(values))
