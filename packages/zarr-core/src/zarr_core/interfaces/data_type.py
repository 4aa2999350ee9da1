"""Data type: the type of the elements of an array.

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
    """A data type with its configuration; immutable, hashable, compared by value."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DataType:
        """Create a data type from a definition, which was validated with its schema."""

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> DataType | None:
        """The data type for a NumPy dtype, or None if this class has none.

        Raises
        ------
        ValueError
            If the class supports such dtypes, but would lose information of this one; the message
            has the details.
        """
        return None

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition for new metadata."""

    @property
    @abstractmethod
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of decoded elements, in native byte order."""

    @property
    def item_size(self) -> int | None:
        """Bytes per element, or None if that depends on its value."""
        return self.numpy_dtype.itemsize

    @property
    def has_byte_order(self) -> bool:
        """Whether the ``bytes`` codec needs an ``endian`` for this type."""
        return self.item_size != 1

    @property
    def implied_byte_order(self) -> Literal["little", "big"] | None:
        """The byte order if the ``bytes`` codec has no ``endian``; None if it must have one."""
        return None

    @property
    def unused_bits(self) -> bool:
        """Whether elements have meaningless bits, such as the upper bits of ``int4``."""
        return False

    def clear_unused_bits(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a copy of ``array`` with the unused bits set to zero.

        Called only if :attr:`unused_bits` is true, with any shape and byte order.  ``array`` must
        not be changed.
        """
        return array

    def as_elements(self, value: Any) -> Any:
        """Convert an assigned value to one that NumPy casts correctly; by default, return it.

        ``value`` is the right-hand side of ``array[...] = value``.

        Raises
        ------
        OverflowError
            If a number does not fit.
        """
        return value

    def default_serializer(self) -> ExtensionDefinition:
        """The default array -> bytes codec of new arrays.

        By default ``bytes``, for types of fixed size; ``endian`` is added when an array is created.
        """
        return ExtensionDefinition("bytes")

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        """The default fill value of new arrays, by default zero."""
        import numpy as np  # metadata does not need NumPy

        return np.zeros((), self.numpy_dtype)

    @abstractmethod
    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        """Decode a fill value.

        Parameters
        ----------
        value : JSON
            The ``fill_value`` member of the array's metadata.  A type narrower than float64
            rounds ``strictjson.round_to_odd(number)``, which makes it the nearest value to the
            decimal text of the document.

        Returns
        -------
        ndarray, shape ()
            The value, exact to the bit (NaN payloads, signed zeros).

        Raises
        ------
        ValueError
            If the value is not valid for this type; the message has the valid values.
        """

    def fill_value_as_stored(
        self, value: JSON, byte_order: Literal["little", "big"] | None
    ) -> np.ndarray[Any, Any]:
        """Decode a fill value whose JSON form can depend on the byte order of the array.

        By default, the byte order is ignored.

        Parameters
        ----------
        value : JSON
            As in :meth:`fill_value_from_json`.
        byte_order : {"little", "big"}, optional
            The byte order in the codecs of the array, if there is one.

        Raises
        ------
        ValueError
            As :meth:`fill_value_from_json` does.
        """
        return self.fill_value_from_json(value)

    @abstractmethod
    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        """Encode a fill value (shape ``()``); decoding must return the same bits."""

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        """Convert an argument to a fill value, shape ``()``; by default with NumPy.

        Strings for numeric types are decoded by :meth:`fill_value_from_json`.

        Raises
        ------
        ValueError
            If the type cannot hold the value exactly.
        """
        import numpy as np  # metadata does not need NumPy

        if isinstance(value, str) and self.numpy_dtype.kind not in "USTOMm":
            return self.fill_value_from_json(value)
        return np.asarray(value, self.numpy_dtype).reshape(())
