"""The base class of the data types that have the names of NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.data_type import DataType

if TYPE_CHECKING:
    from typing import Self

    import numpy as np


@dataclass(frozen=True, slots=True)
class Number(DataType):
    """A number or a boolean.

    Parameters
    ----------
    name : str
        One of ``dtypes``.
    """

    dtypes: ClassVar[dict[str, np.dtype[Any]]]
    """The NumPy dtypes of the data types of a class, by name."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in self.dtypes:
            raise ValueError(
                f"unknown data type {self.name!r}; expected one of {', '.join(self.dtypes)}"
            )

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        return cls(definition.name)

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Self | None:
        return cls(dtype.name) if dtype.name in cls.dtypes else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(self.name, spelling=self.name)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return self.dtypes[self.name]
