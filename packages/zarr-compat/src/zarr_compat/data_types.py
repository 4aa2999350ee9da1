"""Data types under the class names of zarr-python."""

from __future__ import annotations

from typing import Any

from zarr_core.extension import ExtensionDefinition

__all__ = [
    "FixedLengthUTF32",
    "NullTerminatedBytes",
    "VariableLengthBytes",
    "VariableLengthUTF8",
]


class DataType:
    """The name and configuration of a data type, which the core resolves."""

    def __init__(self, name: str, /, **configuration: Any) -> None:
        self._definition = ExtensionDefinition(name, configuration)

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition for the core."""
        return self._definition

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and self._definition == other._definition

    def __hash__(self) -> int:
        return hash(self._definition.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VariableLengthUTF8(DataType):
    """``string``: variable-length text."""

    def __init__(self) -> None:
        super().__init__("string")


class VariableLengthBytes(DataType):
    """``variable_length_bytes``."""

    def __init__(self) -> None:
        super().__init__("variable_length_bytes")


class FixedLengthUTF32(DataType):
    """``fixed_length_utf32``.

    Parameters
    ----------
    length : int
        Number of characters.
    """

    def __init__(self, length: int = 1) -> None:
        super().__init__("fixed_length_utf32", length_bytes=4 * length)


class NullTerminatedBytes(DataType):
    """``null_terminated_bytes``.

    Parameters
    ----------
    length : int
        Number of bytes.
    """

    def __init__(self, length: int = 1) -> None:
        super().__init__("null_terminated_bytes", length_bytes=length)
