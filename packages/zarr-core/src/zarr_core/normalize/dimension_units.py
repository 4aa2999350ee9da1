"""The attribute ``dimension_units``: physical units of the dimensions, as TensorStore stores them."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.definition import JSON

UnitLike: TypeAlias = "str | float | tuple[float, str] | None"
"""``"2 nm"``, ``(2, "nm")``, ``"nm"``, a number for a quantity without unit, None if unknown."""

ATTRIBUTE = "dimension_units"

_UNIT = re.compile(r"\s*+([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)?\s*(.*)", re.DOTALL)


def parse_unit(unit: Any) -> str | None:
    """Return the text of a unit as it is stored: ``"2 nm"``, ``"nm"``, ``"1"`` without a unit.

    Raises
    ------
    TypeError
        If it is not a unit.
    ValueError
        If its number is not finite.
    """
    if unit is None:
        return None
    if isinstance(unit, str):
        found = _UNIT.fullmatch(unit.rstrip())
        assert found is not None, "the pattern matches every string"
        number, base = float(found[1] or 1), found[2]
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
    found = _UNIT.fullmatch(base)
    return base if number == 1 and found and not found[1] else f"{text} {base}"


def with_units(
    attributes: Mapping[str, Any] | None, units: Sequence[UnitLike] | str, ndim: int
) -> dict[str, Any]:
    """Return attributes that contain the units of the dimensions.

    Raises
    ------
    ValueError
        If the number of units is not that of the dimensions, or a unit is invalid.
    TypeError
        If one is not a unit, or the attributes already have units.
    """
    found = dict(attributes or {})
    if ATTRIBUTE in found:
        raise TypeError(f"pass {ATTRIBUTE} or the attribute {ATTRIBUTE!r}, not both")
    items: Any = (units,) if isinstance(units, str) else tuple(units)
    if len(items) != ndim:
        raise ValueError(f"{ATTRIBUTE}={items} has {len(items)} units for {ndim} dimensions")
    return {**found, ATTRIBUTE: [parse_unit(item) for item in items]}


def expected_units(units: Sequence[str | None], stored: JSON) -> list[JSON]:
    """Return the attribute of an array whose units are as expected.

    As in TensorStore, units are compared in their normal form, and null agrees with any unit.
    """
    if not isinstance(stored, list) or len(stored) != len(units):
        return [*units]
    return [
        text
        if text is None or unit is None or (isinstance(text, str) and parse_unit(text) == unit)
        else unit
        for unit, text in zip(units, stored, strict=True)
    ]
