"""Adapter of data types of zarr-core to the interface of zarr-python."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from zarr import dtype as zarr_dtypes
from zarr import errors
from zarr.core.dtype.common import HasEndianness
from zarr_core.extension import ExtensionDefinition, create_extension

if TYPE_CHECKING:
    from zarr_core.extension import JSON, DataType

# zarr-python 3.3 moved the error.
_Mismatch: Any = vars(errors).get("DataTypeValidationError") or zarr_dtypes.DataTypeValidationError


@cache
def adapt_data_type(name: str, ours: type[DataType]) -> type[DataTypeAdapter]:
    """Return a class for zarr-python, for an entry point in ``zarr.data_type``."""
    members = {"__slots__": (), "__module__": __name__, "_zarr_v3_name": name, "ours": ours}
    ordered = type(name, (_OrderedAdapter,), members)
    return type(name, (DataTypeAdapter,), {**members, "ordered": ordered})


def _unpickle(data: JSON) -> Any:
    """Create a data type from its definition, for unpickling."""
    definition = ExtensionDefinition.from_json(data)
    ours: Any = create_extension("data_type", definition)
    kind: Any = type(ours)
    return adapt_data_type(definition.name, kind).from_data_type(ours)


@dataclass(frozen=True, kw_only=True, slots=True)
class DataTypeAdapter(zarr_dtypes.ZDType[Any, Any]):
    """A data type of zarr-core; ``ordered`` is the class for elements with a byte order."""

    ours: ClassVar[type[DataType]]
    ordered: ClassVar[type[DataTypeAdapter]]

    data_type: Any

    @classmethod
    def from_data_type(cls, data_type: DataType) -> DataTypeAdapter:
        """Adapt a data type of this class."""
        return (cls.ordered if data_type.has_byte_order else cls)(data_type=data_type)

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Any:
        """Return the data type for a dtype that NumPy does not define; zarr-python has the others."""
        if dtype.type.__module__ not in ("builtins", "numpy"):
            data_type = cls.ours.from_numpy(dtype)
            if data_type is not None:
                return cls.from_data_type(data_type)
        raise _Mismatch(f"{dtype!r} is not a dtype of {cls._zarr_v3_name}")

    def to_native_dtype(self) -> Any:
        return self.data_type.numpy_dtype

    @classmethod
    def _from_json_v2(cls, data: Any) -> Any:
        raise _Mismatch(f"{cls._zarr_v3_name} is a data type of version 3")

    @classmethod
    def _from_json_v3(cls, data: Any) -> Any:
        name = data.get("name") if isinstance(data, dict) else data
        if name != cls._zarr_v3_name:
            raise _Mismatch(f"{data!r} is not the data type {cls._zarr_v3_name}")
        return cls.from_data_type(
            create_extension("data_type", ExtensionDefinition.from_json(data))
        )

    def to_json(self, zarr_format: Any) -> Any:
        if zarr_format == 2:
            raise ValueError(f"{self._zarr_v3_name} is a data type of version 3")
        return self.data_type.to_definition().to_json()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_json(3),)

    # --- scalars ---

    def _check_scalar(self, data: object) -> bool:
        try:
            self.data_type.cast(data)
        except (TypeError, ValueError, OverflowError):
            return False
        return True

    def cast_scalar(self, data: object) -> Any:
        return self.data_type.cast(data)[()]

    def default_scalar(self) -> Any:
        return self.data_type.default_fill_value()[()]

    def from_json_scalar(self, data: Any, *, zarr_format: Any) -> Any:
        return self.data_type.fill_value_from_json(data)[()]

    def to_json_scalar(self, data: object, *, zarr_format: Any) -> Any:
        return self.data_type.fill_value_to_json(self.data_type.cast(data))


@dataclass(frozen=True, kw_only=True, slots=True)
class _OrderedAdapter(DataTypeAdapter, HasEndianness):
    """A data type whose elements have a byte order, which zarr-python changes with ``replace``."""

    def to_native_dtype(self) -> Any:
        dtype = self.data_type.numpy_dtype
        return dtype if self.endianness == sys.byteorder else dtype.newbyteorder(self.endianness)
