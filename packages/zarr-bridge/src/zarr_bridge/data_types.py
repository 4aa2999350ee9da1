"""Adapter for data types of zarr-python, and conversion of data types to zarr-python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from zarr.dtype import ZDType, parse_dtype
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import DataType, ExtensionDefinition, ZarrError, create_extension

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import JSON, Provider


def adapt(provider: Provider, foreign: Any) -> type[DataType]:
    """Return a data type class that wraps a subclass of ``ZDType``."""
    return _adapt_class(provider.name, foreign)


@cache
def _adapt_class(name: str, library: Any) -> type[DataType]:
    if not isinstance(library, type) or not issubclass(library, ZDType):
        raise TypeError(f"{library!r} is not a subclass of zarr.dtype.ZDType")
    return type(f"ZarrPython_{name}", (ForeignDataType,), {"__slots__": (), "library": library})


@dataclass(frozen=True, slots=True)
class ForeignDataType(DataType):
    """A data type of zarr-python."""

    library: ClassVar[Any] = None

    zdtype: Any

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the data type from its name or the JSON object, whichever the class accepts."""
        whole = {"name": definition.name, "configuration": dict(definition.configuration)}
        forms: list[Any] = [whole] if definition.configuration else [definition.name, whole]
        for form in forms:
            try:
                return cls(cls.library.from_json(form, zarr_format=3))
            except (TypeError, ValueError) as error:
                refusal = error
        raise ValueError(str(refusal)) from refusal

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition.from_json(self.zdtype.to_json(zarr_format=3))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.zdtype.to_native_dtype())
        return dtype if dtype.kind == "T" else dtype.newbyteorder("=")

    @property
    def item_size(self) -> int | None:
        dtype = self.numpy_dtype
        return None if dtype.hasobject or dtype.kind == "T" else dtype.itemsize

    @property
    def has_byte_order(self) -> bool:
        """Whether the class has an ``endianness``."""
        return hasattr(self.zdtype, "endianness")

    def default_serializer(self) -> ExtensionDefinition:
        """Return the object codec of the class, or ``bytes``."""
        return ExtensionDefinition(getattr(self.zdtype, "object_codec_id", None) or "bytes")

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        return elements(self.zdtype.default_scalar(), self.numpy_dtype)

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        try:
            scalar = self.zdtype.from_json_scalar(value, zarr_format=3)
        except Exception as error:  # third-party code may raise anything
            raise ValueError(f"{value!r} is not a fill value of {self.zdtype}: {error}") from error
        return elements(scalar, self.numpy_dtype)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return cast("JSON", self.zdtype.to_json_scalar(value[()], zarr_format=3))

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        try:
            scalar = self.zdtype.cast_scalar(value)
        except Exception as error:  # third-party code may raise anything
            raise ValueError(f"cannot convert {value!r} to {self.zdtype}: {error}") from error
        return elements(scalar, self.numpy_dtype)


def elements(scalar: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a scalar of zarr-python as a zero-dimensional array."""
    if isinstance(scalar, np.ndarray) and scalar.ndim == 0:  # a boxed object
        scalar = scalar[()]
    array = np.empty(1, dtype)
    array[0] = scalar
    return array.reshape(())


@lru_cache(maxsize=256)
def zdtype_of(data_type: DataType) -> ZDType[Any, Any]:
    """Return the data type of zarr-python for a data type."""
    if isinstance(data_type, ForeignDataType):
        return cast("ZDType[Any, Any]", data_type.zdtype)
    definition = data_type.to_definition()
    form: Any = {"name": definition.name, "configuration": dict(definition.configuration)}
    for attempt in (form if definition.configuration else definition.name, data_type.numpy_dtype):
        try:
            return parse_dtype(attempt, zarr_format=3)
        except (TypeError, ValueError):
            continue
    raise ValueError(f"data type {definition.name!r} is not supported by zarr-python")


def data_type_of(zdtype: ZDType[Any, Any]) -> DataType:
    """Return the data type for a data type of zarr-python; wrapped if it is unknown."""
    try:
        definition = ExtensionDefinition.from_json(cast("JSON", zdtype.to_json(zarr_format=3)))
        return cast("DataType", create_extension("data_type", definition))
    except UnknownExtensionError:
        return ForeignDataType(zdtype)
    except ZarrError as error:
        raise ValueError(f"data type {zdtype} of zarr-python is not supported: {error}") from error
