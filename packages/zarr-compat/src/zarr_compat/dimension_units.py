"""The attribute ``dimension_units``: physical units of the dimensions, as TensorStore stores them."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.errors import MetadataMismatchError
from zarr_core.extension import ValidationProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

UnitLike: TypeAlias = "str | float | tuple[float, str] | None"
"""``"2 nm"``, ``(2, "nm")``, ``"nm"``, a number for a quantity without unit, None if unknown."""

ATTRIBUTE = "dimension_units"

_UNIT = re.compile(r"\s*+([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)?\s*(.*)", re.DOTALL)


def parse_unit(unit: Any) -> str | None:
    """Return the text of a unit as it is stored: ``"2 nm"``, ``"nm"``, ``"1"`` without a unit."""
    if unit is None:
        return None
    if isinstance(unit, str):
        match = _UNIT.fullmatch(unit.rstrip())
        assert match is not None, "the pattern matches every string"
        number, base = float(match[1] or 1), match[2]
        if isinf(number):  # no number that can be stored
            return unit.strip()
    else:
        pair = (unit, "") if not isinstance(unit, tuple | list) else unit
        is_unit = len(pair) == 2 and hasattr(pair[0], "__float__") and isinstance(pair[1], str)
        if not is_unit or isinstance(pair[0], bool):
            raise TypeError(f'a unit is a string such as "2 nm", a number or None, not {unit!r}')
        number, base = float(pair[0]), pair[1].strip()
        if not abs(number) < float("inf"):
            raise ValueError(f"the number of the unit {unit!r} is not finite")
    text = f"{number:g}" if float(f"{number:g}") == number else repr(number)
    if not base:
        return text
    # "1 .0" is not ".0", which is a number.
    match = _UNIT.fullmatch(base)
    return base if number == 1 and match and not match[1] else f"{text} {base}"


def parse_units(units: Sequence[UnitLike] | str, ndim: int) -> list[str | None]:
    """Return the units of all dimensions, for the attribute ``dimension_units`` of TensorStore.

    Parameters
    ----------
    units : sequence or str
        Physical size of a step along each dimension: ``"2 nm"`` or ``(2, "nm")``, ``"nm"`` for
        ``"1 nm"``, a number without unit, None if unknown; a string for the only dimension.
    ndim : int
        Number of dimensions of the array.

    Raises
    ------
    ValueError
        If there is not one unit per dimension, or a number is not finite.
    TypeError
        If an item is not a unit.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> from zarr_compat import parse_units
    >>> units = parse_units(["4nm", (4, "nm")], 2)
    >>> zarr.create_array(shape=(8, 8), attributes={"dimension_units": units}).attrs.asdict()
    {'dimension_units': ['4 nm', '4 nm']}
    """
    items: Any = (units,) if isinstance(units, str) else tuple(units)
    if len(items) != ndim:
        raise ValueError(f"{ATTRIBUTE}={items} has {len(items)} units for {ndim} dimensions")
    return [parse_unit(item) for item in items]


def check_units(array: Array, units: Sequence[UnitLike] | str) -> None:
    """Compare the units of an array, as the ``schema`` of TensorStore does.

    Units are compared by their meaning; None agrees with any unit, and an array without the
    attribute ``dimension_units`` with all.

    Raises
    ------
    MetadataMismatchError
        If a unit differs.
    ValueError, TypeError
        As for :func:`parse_units`.
    """
    expected = parse_units(units, array.ndim)
    stored = array.attrs.get(ATTRIBUTE, [None] * array.ndim)
    is_same = isinstance(stored, list) and len(stored) == len(expected)
    if not is_same or not all(
        text is None or unit is None or (isinstance(text, str) and parse_unit(text) == unit)
        for unit, text in zip(expected, stored, strict=True)
    ):
        problem = ValidationProblem(f"/attributes/{ATTRIBUTE}", f"is {stored}, not {expected}")
        raise MetadataMismatchError(array.stored.location, [problem])
