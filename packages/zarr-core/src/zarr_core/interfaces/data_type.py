"""Data type: the values that an element may take.

Specification: v3.1, "Data types".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.definition import ExtensionDefinition

if TYPE_CHECKING:
    import numpy as np

    from zarr_core.definition import JSON


class DataType(ABC):
    """A data type bound to its configuration.

    Instances are immutable, hashable and compare by value.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DataType:
        """Make the data type that a definition describes; its schema was checked before."""

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> DataType | None:
        """The data type that stores a NumPy dtype, or None if this class has none for it.

        Raises
        ------
        ValueError
            If the dtype is of the kind that this class stores, but would lose something;
            the message says what.
        """
        return None

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition to write into new metadata."""

    @property
    @abstractmethod
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of decoded elements, in native byte order."""

    @property
    def item_size(self) -> int | None:
        """Bytes that an element takes, or None if that depends on its value."""
        return self.numpy_dtype.itemsize

    @property
    def has_byte_order(self) -> bool:
        """Whether the ``bytes`` codec needs an ``endian`` for this type."""
        return self.item_size != 1

    @property
    def implied_byte_order(self) -> Literal["little", "big"] | None:
        """The byte order of arrays whose ``bytes`` codec has no ``endian``, if that may be.

        None, as nearly always: the codec must have one.
        """
        return None

    @property
    def unused_bits(self) -> bool:
        """Whether elements have bits that stand for nothing, such as those above an ``int4``."""
        return False

    def clear_unused_bits(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Set to zero what stands for nothing; called only where :attr:`unused_bits`.

        Parameters
        ----------
        array : ndarray
            Elements of any shape, in any byte order; stays as it is.

        Returns
        -------
        ndarray
            A copy of the same shape.
        """
        return array

    def as_elements(self, value: Any) -> Any:
        """Turn what a user assigns into something that NumPy casts to this type rightly.

        By default that is what was given.

        Parameters
        ----------
        value : array-like
            What stands to the right of ``array[...] =``.

        Raises
        ------
        OverflowError
            If a number does not fit.
        """
        return value

    def default_serializer(self) -> ExtensionDefinition:
        """The array -> bytes codec of a new array whose creator named none.

        By default ``bytes``, which fits every type of fixed size; its ``endian`` is
        filled in where the array is made.
        """
        return ExtensionDefinition("bytes")

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        """The fill value of a new array whose creator gave none: zero."""
        import numpy as np  # noqa: PLC0415 - lazy: documents can be handled without NumPy

        return np.zeros((), self.numpy_dtype)

    @abstractmethod
    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        """Decode a fill value.

        Parameters
        ----------
        value : JSON
            The ``fill_value`` member of the array's metadata.

        Returns
        -------
        ndarray, shape ()
            The value, exact to the bit (NaN payloads, signed zeros).

        Raises
        ------
        ValueError
            If the value is not permitted for this type; the message says what is.
        """

    def fill_value_as_stored(
        self, value: JSON, byte_order: Literal["little", "big"] | None
    ) -> np.ndarray[Any, Any]:
        """Decode the fill value of an array whose elements are stored in a byte order.

        By default the order is no matter; it is where the JSON form has packed bytes.

        Parameters
        ----------
        value : JSON
            As in :meth:`fill_value_from_json`.
        byte_order : {"little", "big"}, optional
            What the codecs of the array say; None if they say none.

        Raises
        ------
        ValueError
            As :meth:`fill_value_from_json` does.
        """
        return self.fill_value_from_json(value)

    @abstractmethod
    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        """Encode a fill value (shape ``()``), so that decoding gives the same bits."""

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        """Turn a value that a user gave into a fill value, shape ``()``.

        Raises
        ------
        ValueError
            If the type cannot hold the value exactly.
        """
        import numpy as np  # noqa: PLC0415 - lazy: documents can be handled without NumPy

        return np.asarray(value, self.numpy_dtype).reshape(())
