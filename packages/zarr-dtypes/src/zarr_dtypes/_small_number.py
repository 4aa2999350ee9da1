"""The base class of data types that use ml_dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import DataType, ExtensionDefinition

from zarr_dtypes._ml_dtypes import dtype_named, name_in
from zarr_dtypes._unused_bits import clear_upper_bits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import numpy as np


@dataclass(frozen=True, slots=True)
class SmallNumber(DataType):
    """A data type of small numbers, with the name of its dtype.

    Parameters
    ----------
    name : str
        The name.

    Attributes
    ----------
    known : mapping of str to int
        The names of a class, with their numbers of used bits.
    target : str
        The class, ``module:Class``, for error messages.

    Raises
    ------
    ValueError
        If the name is not one of them.
    ExtensionLoadError
        If ml_dtypes is not installed.
    """

    known: ClassVar[Mapping[str, int]]
    target: ClassVar[str]

    name: str

    def __post_init__(self) -> None:
        if self.name not in self.known:
            raise ValueError(
                f"unknown data type {self.name!r}; expected one of {', '.join(self.known)}"
            )
        dtype_named(self.name, self.target)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        return cls(definition.name)

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Self | None:
        name = name_in(dtype, cls.known, cls.target)
        return cls(name) if name else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(self.name, spelling=self.name)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return dtype_named(self.name, self.target)

    @property
    def unused_bits(self) -> bool:
        return self.known[self.name] % 8 != 0

    def clear_unused_bits(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return clear_upper_bits(array, self.known[self.name]) if self.unused_bits else array
