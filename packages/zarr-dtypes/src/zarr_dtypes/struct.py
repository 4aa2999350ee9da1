"""The data type ``struct``: records of named fields.

Name:           struct
Specification:  zarr-extensions, data-types/struct
Configuration:  {"fields": [{"name": "x", "data_type": "float32"}, ...]}
Schema:         schemas/data_type/struct.json
Fill value:     an object with the fill value of each field; packed little-endian bytes
                in base64 are accepted, too
NumPy:          [("x", "f4"), ...], without gaps between fields
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr_core.extension import (
    DataType,
    ExtensionDefinition,
    Location,
    create_extension,
    data_type_for,
)
from zarr_core.messages import listed, quoted

from zarr_dtypes._base64 import bytes_from_json
from zarr_dtypes._length import check_length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.extension import JSON

    NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Struct(DataType):
    """Records.

    Parameters
    ----------
    fields : tuple of (str, DataType)
        Names and data types, in the order of their bytes.

    Raises
    ------
    ValueError
        If a name is empty or not unique, a field has no fixed size, or the fields
        have more than 2**31 - 1 bytes in total.
    """

    fields: tuple[tuple[str, DataType], ...]
    _dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [name for name, _ in self.fields]
        if not all(names) or not names:
            raise ValueError("a struct must have fields with nonempty names")
        if twice := sorted(name for name, count in Counter(names).items() if count > 1):
            raise ValueError(f"duplicate field names {listed(twice)}")
        total = 0
        for name, data_type in self.fields:
            if data_type.item_size is None:
                kind = data_type.to_definition().name
                raise ValueError(
                    f"the field {name!r} must have a fixed size, but elements of type {kind} do not"
                )
            total += data_type.item_size
        check_length(total)
        dtype = np.dtype([(name, data_type.numpy_dtype) for name, data_type in self.fields])
        object.__setattr__(self, "_dtype", dtype)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        listed: Any = definition.configuration["fields"]
        if len(listed) > 100_000:  # only in a hostile or damaged document
            raise ValueError(f"has {len(listed)} fields; at most 100000 are supported")
        return cls(
            tuple(
                (item["name"], field_data_type(item["data_type"], f"{number}/data_type"))
                for number, item in enumerate(listed)
            )
        )

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Self | None:
        if not dtype.names or dtype.fields is None:
            return None
        fields = []
        end = 0
        for name in dtype.names:
            part, offset, *title = dtype.fields[name]
            if title:
                raise ValueError(f"the title {title[0]!r} of the field {name!r} is not supported")
            if offset != end:
                raise ValueError(_gap(name, offset, end))
            end += part.itemsize
            fields.append((name, data_type_for(part)))
        if end != dtype.itemsize:
            raise ValueError(_gap("", dtype.itemsize, end))
        return cls(tuple(fields))

    def to_definition(self) -> ExtensionDefinition:
        fields: list[JSON] = [
            {"name": name, "data_type": data_type.to_definition().to_json()}
            for name, data_type in self.fields
        ]
        return ExtensionDefinition("struct", {"fields": fields})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def has_byte_order(self) -> bool:
        return any(data_type.has_byte_order for _, data_type in self.fields)

    @property
    def unused_bits(self) -> bool:
        return any(data_type.unused_bits for _, data_type in self.fields)

    def clear_unused_bits(self, array: NDArray) -> NDArray:
        copy = np.array(array)
        for name, data_type in self.fields:
            if data_type.unused_bits:
                copy[name] = data_type.clear_unused_bits(copy[name])
        return copy

    def default_fill_value(self) -> NDArray:
        """Return the default fill values of all fields."""
        return self._filled([data_type.default_fill_value() for _, data_type in self.fields])

    def fill_value_from_json(self, value: JSON) -> NDArray:
        if isinstance(value, str):
            return self._packed(value)
        if not isinstance(value, dict):
            raise ValueError(
                "a fill value of type struct must be an object with the fill value of each field, "
                f"not {quoted(value)}"
            )
        names = [name for name, _ in self.fields]
        if differing := sorted(value.keys() ^ set(names)):
            raise ValueError(
                f"a fill value of type struct must have exactly the members {listed(names)}; "
                f"it differs in {listed(differing)}"
            )
        return self._each(lambda data_type, part: data_type.fill_value_from_json(part), value)

    def fill_value_to_json(self, value: NDArray) -> JSON:
        return {
            name: data_type.fill_value_to_json(np.asarray(value[name]))
            for name, data_type in self.fields
        }

    def cast(self, value: Any) -> NDArray:
        names = [name for name, _ in self.fields]
        if isinstance(value, np.ndarray | np.void) and value.dtype.names and not value.ndim:
            value = {name: value[name] for name in value.dtype.names}
        elif isinstance(value, tuple | list):
            value = dict(zip(names, value, strict=True))
        elif type(value) is int and value == 0:  # the elements of numpy.zeros
            value = dict.fromkeys(names, 0)
        if not isinstance(value, dict) or value.keys() != set(names):
            raise ValueError(
                f"a struct with the fields {listed(names)} cannot hold {quoted(value)}"
            )
        return self._each(lambda data_type, part: data_type.cast(part), value)

    def _each(self, decode: Callable[[DataType, Any], NDArray], parts: dict[str, Any]) -> NDArray:
        values = []
        for name, data_type in self.fields:
            try:
                values.append(decode(data_type, parts[name]))
            except ValueError as error:
                raise ValueError(f"field {name!r}: {error}") from error
        return self._filled(values)

    def _filled(self, values: Sequence[NDArray]) -> NDArray:
        filled = np.zeros((), self._dtype)
        for (name, _), value in zip(self.fields, values, strict=True):
            filled[name] = value
        return filled

    def _packed(self, text: str) -> NDArray:
        data = bytes_from_json(text, "a fill value of type struct that is a string")
        if len(data) != self._dtype.itemsize:
            raise ValueError(f"a struct of {self._dtype.itemsize} bytes cannot hold {len(data)}")
        stored = np.frombuffer(data, self._dtype.newbyteorder("<"))
        return stored.astype(self._dtype).reshape(())


def field_data_type(definition: JSON, pointer: str) -> DataType:
    """Return the data type of a field; ``pointer`` is its JSON pointer within the fields."""
    data_type: DataType | None = create_extension(
        "data_type",
        ExtensionDefinition.from_json(definition),
        Location(pointer=f"/configuration/fields/{pointer}"),
    )
    assert data_type is not None  # a data type is never ignored
    return data_type


def _gap(name: str, offset: int, end: int) -> str:
    where = f"the field {name!r} starts" if name else "an element ends"
    return (
        f"{where} at byte {offset} instead of {end}: fields must be consecutive. "
        "Repack the array first: numpy.lib.recfunctions.repack_fields(array, recurse=True)"
    )
