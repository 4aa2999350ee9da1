"""Which of the given steps are new, by their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_xarray.encoded_elements import is_missing

if TYPE_CHECKING:
    OnDuplicate = Literal["raise", "skip"]
    OnUnordered = Literal["raise", "append"]


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


def new_steps(
    labels: np.ndarray[Any, Any],
    stored: np.ndarray[Any, Any],
    name: str,
    where: str,
    on_duplicate: OnDuplicate,
    on_unordered: OnUnordered,
) -> np.ndarray[Any, Any]:
    """Return the indices of given steps that are not stored, with the policies of Appender.

    ``name`` is the coordinate with the labels, ``where`` the group, for error messages.
    """
    missing = is_missing(labels)
    if missing.any():
        raise ValueError(
            f"cannot append to {where}: {name!r} has a missing label (NaN or NaT) at position "
            f"{int(missing.argmax())} of the given steps; remove this step or set its label"
        )
    if labels.dtype.kind in "mM" and stored.dtype.kind == labels.dtype.kind:
        # Times of several resolutions are equal, but not their numbers.
        dtype = np.result_type(labels, stored)
        labels, stored = labels.astype(dtype), stored.astype(dtype)
    known = set(stored.tolist())  # numbers of Python: those of several data types are equal exactly
    steps: list[int] = []
    for step, label in enumerate(labels.tolist()):
        if label not in known:
            known.add(label)
            steps.append(step)
        elif on_duplicate == "raise":
            raise ValueError(
                f"cannot append to {where}: the label {labels[step]} of {name!r} already exists; "
                "pass on_duplicate='skip' to ignore such steps, or overwrite them with "
                "to_zarr(region='auto')"
            )
    new = np.array(steps, int)
    last = greatest(stored)
    if on_unordered == "raise" and not is_increasing(labels[new], last):
        raise ValueError(
            f"cannot append to {where}: the labels of {name!r} are not increasing after {last}; "
            "sort the steps, or pass on_unordered='append' to store them in the given order"
        )
    return new
