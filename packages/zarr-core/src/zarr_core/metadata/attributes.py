"""Attributes in metadata: conversion to JSON, and values that cannot be changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.errors import AttributeValueError, MetadataValidationError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.strictjson import identical, keep_nonfinite, plain

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.location import Location


def _reject_change(value: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise a TypeError instead of forgetting the change."""
    kind = "list" if isinstance(value, list) else "dictionary"
    raise TypeError(
        f"cannot change a {kind} within attributes: it is not stored. Change a copy and assign it, "
        "as in value = attrs.asdict()['name']; ...; attrs['name'] = value"
    )


def _read_only_class(kind: type, names: str, reject: Any = _reject_change) -> type[Any]:
    """A class whose copies, also those of pickle, are ordinary lists or dictionaries."""
    members: dict[str, Any] = dict.fromkeys(names.split(), reject)
    members["__reduce__"] = lambda value: (kind, (kind(value),))
    return type(f"ReadOnly{kind.__name__.title()}", (kind,), members)


_CHANGES = "__delitem__ __setitem__ clear pop "
ReadOnlyList = _read_only_class(
    list, _CHANGES + "__iadd__ __imul__ append extend insert remove reverse sort"
)
_DICT_CHANGES = _CHANGES + "__ior__ popitem setdefault update"
ReadOnlyDict = _read_only_class(dict, _DICT_CHANGES)


def read_only(value: JSON, plain_floats: bool = False) -> Any:
    """Return a value that cannot be changed; with plain floats if set."""
    if isinstance(value, dict):
        return ReadOnlyDict({name: read_only(item, plain_floats) for name, item in value.items()})
    if isinstance(value, list):
        return ReadOnlyList([read_only(item, plain_floats) for item in value])
    return float(value) if plain_floats and isinstance(value, float) else value


def _reject_attribute(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(
        "metadata.attributes cannot be changed: it is a copy of what is stored. Use the attributes "
        "of the array or group, which store every change, as in array.attrs['name'] = value"
    )


class MetadataAttributes(_read_only_class(dict, _DICT_CHANGES, _reject_attribute)):  # type: ignore[misc]  # a dynamic base
    """The attributes in metadata, which cannot be changed; nodes with equal metadata share them."""

    def __getitem__(self, name: str) -> Any:
        return read_only(dict.__getitem__(self, name))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, or a default."""
        return self[name] if name in self else default  # noqa: SIM401 - dict.get calls no methods


def check_attributes(
    attributes: Any, location: Location, known: Mapping[str, JSON] | None = None
) -> dict[str, JSON]:
    """Convert attributes, a mapping or an iterable of pairs, to JSON.

    ``location`` is the node, for errors.  NaN and infinities are permitted if they are equal to the
    value at the same position in ``known``, the present attributes of the node.

    Raises
    ------
    AttributeValueError
        If a value has no JSON form, or a name is not a string.
    """
    try:
        values = dict(attributes)
    except (TypeError, ValueError):
        message = f"must be a mapping of names to values, not {brief(attributes)}"
        raise AttributeValueError(location, [ValidationProblem("/attributes", message)]) from None
    try:
        converted = plain(values, location, "/attributes")
    except MetadataValidationError:
        try:
            converted = plain(_keep_known_nonfinite(values, known or {}), location, "/attributes")
        except MetadataValidationError as error:
            raise AttributeValueError(location, error.problems) from error
    assert isinstance(converted, dict)
    return converted


def _keep_known_nonfinite(value: Any, known: Any) -> Any:
    """Mark NaN and infinities that are equal to those at the same position in ``known``."""
    if isinstance(known, dict) and isinstance(value, Mapping):
        return {
            name: _keep_known_nonfinite(item, known[name]) if name in known else item
            for name, item in value.items()
        }
    if isinstance(known, list) and isinstance(value, list | tuple):
        pairs = zip_longest(value, known[: len(value)])
        return [_keep_known_nonfinite(item, other) for item, other in pairs]
    if isinstance(known, float) and isinstance(value, float) and identical(float(value), known):
        return keep_nonfinite(value)
    return value
