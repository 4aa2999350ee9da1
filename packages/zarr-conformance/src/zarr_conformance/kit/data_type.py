"""Data types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.extension import DataType, ExtensionDefinition

from zarr_conformance.kit import values
from zarr_conformance.kit.codec import serializers
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.extension import ExtensionTests
from zarr_conformance.kit.junk import JUNK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy

    Array = np.ndarray[Any, Any]


class DataTypeTests(ExtensionTests):
    """Inherit from this to test a data type.

    Examples
    --------
    >>> class TestFixed(DataTypeTests):
    ...     name = "acme.fixed"
    ...     configurations = [{"scale": 100}]
    ...     fill_values = [0, "1.25"]
    """

    extension_point = "data_type"

    fill_values: ClassVar[Sequence[Any]] = ()
    """Fill values in JSON, in the form in which the data type writes them."""

    bad_fill_values: ClassVar[Sequence[Any]] = ()
    """JSON that is not a valid fill value of any configuration."""

    def values(self, data_type: DataType, shape: tuple[int, ...]) -> SearchStrategy[Array]:
        """Arrays of the data type, of its ``numpy_dtype``; by default of any bits."""
        return values.arrays(data_type, shape)

    def same(self, read: Array, original: Array) -> bool:
        """Whether the read elements equal the written ones."""
        return values.identical(read, original)

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory of the data type."""
        definition = ExtensionDefinition(self.name, configuration)
        return zarr.create_array(shape=(5, 4), dtype=definition.to_json(), chunks=(2, 3))

    # --- the object ---

    def test_data_type_equality(self, configuration: Mapping[str, Any]) -> None:
        """Data types with the same configuration are equal and have the same hash."""
        one, other = self.make(configuration), self.make(configuration)
        assert one == other
        assert hash(one) == hash(other)
        assert one != self.name

    def test_configurations_are_distinct(self) -> None:
        """Data types with different definitions are not equal."""
        made = [self.make(configuration) for configuration in self.configurations]
        for one in made:
            for other in made:
                assert (one == other) == (one.to_definition() == other.to_definition())

    def test_item_size_matches_numpy(self, configuration: Mapping[str, Any]) -> None:
        """``item_size`` is the size of the NumPy dtype, or None for a variable size."""
        data_type = self.make(configuration)
        dtype = data_type.numpy_dtype
        assert isinstance(dtype, np.dtype)
        assert dtype.isnative, "numpy_dtype is in native byte order"
        assert data_type.item_size in (dtype.itemsize, None)

    def test_from_numpy_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """``from_numpy`` returns a data type for the dtype, or None."""
        data_type = self.make(configuration)
        converted = type(data_type).from_numpy(data_type.numpy_dtype)
        assert converted is None or converted.numpy_dtype == data_type.numpy_dtype
        assert type(data_type).from_numpy(np.dtype([("no such", "V7")])) in (None, data_type) or (
            data_type.numpy_dtype.kind == "V"
        )

    # --- fill values ---

    def test_default_fill_value_is_valid(self, configuration: Mapping[str, Any]) -> None:
        """The default fill value is a scalar of the dtype and can be stored as JSON."""
        data_type = self.make(configuration)
        self._comes_back(data_type, data_type.default_fill_value())

    def test_fill_value_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Conversion to JSON and back is exact for all values."""
        data_type = self.make(configuration)

        def check(value: Array) -> None:
            self._comes_back(data_type, value.reshape(()))

        check_examples(check, self.values(data_type, ()), self.examples * 2)

    def test_fill_value_json_is_preserved(self, configuration: Mapping[str, Any]) -> None:
        """The JSON forms in ``fill_values`` are written unchanged."""
        data_type = self.make(configuration)
        for listed in self.fill_values:
            assert data_type.fill_value_to_json(data_type.fill_value_from_json(listed)) == listed

    def test_invalid_fill_value_raises(self, configuration: Mapping[str, Any]) -> None:
        """Invalid fill values raise ValueError with a message."""
        data_type = self.make(configuration)
        refused = 0
        for junk in (*JUNK, *self.bad_fill_values):
            try:
                value = data_type.fill_value_from_json(junk)
            except ValueError as error:
                refused += bool(str(error))
            else:
                assert junk not in self.bad_fill_values, f"{junk!r} is accepted"
                self._comes_back(data_type, value)
        assert refused, "anything is a fill value, or nothing is said about what is wrong"

    def _comes_back(self, data_type: DataType, value: Array) -> None:
        dtype = data_type.numpy_dtype
        assert value.shape == ()
        assert value.dtype == dtype
        written = data_type.fill_value_to_json(value)
        text = json.dumps(written, allow_nan=False)
        again = data_type.fill_value_from_json(json.loads(text))
        assert again.shape == ()
        assert again.dtype == dtype
        assert values.identical(again, value), (written, again, value)
        assert data_type.fill_value_to_json(again) == written

    # --- arrays ---

    def test_array_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Arrays are written and read in both byte orders, with any fill value, whole and in parts."""
        data_type = self.make(configuration)
        definition = ExtensionDefinition(self.name, configuration).to_json()

        def check(case: tuple[Array, Array, Any]) -> None:
            original, fill_value, serializer = case
            array = zarr.create_array(
                shape=original.shape,
                dtype=definition,
                chunks=tuple(max(1, length // 2) for length in original.shape),
                fill_value=fill_value[()] if fill_value.dtype.kind != "O" else fill_value.item(),
                serializer=serializer,
                compressors=None,
            )
            assert array.dtype == data_type.numpy_dtype
            again = zarr.open_array(array.store, mode="r+")
            missing = np.full(original.shape, fill_value, original.dtype)
            assert self.same(np.asarray(again[...]), missing), "what was never written"
            before = original.copy()
            array[...] = original
            assert self.same(original, before), "writing changed what was written"
            assert self.same(np.asarray(again[...]), original)
            part = tuple(slice(length // 2, None) for length in original.shape)
            again[part] = missing[part]
            original[part] = missing[part]
            assert self.same(np.asarray(array[...]), original)

        check_examples(check, self._cases(data_type), self.examples)

    def _cases(self, data_type: DataType) -> SearchStrategy[tuple[Array, Array, Any]]:
        @st.composite
        def cases(draw: Callable[[Any], Any]) -> tuple[Array, Array, Any]:
            shape = draw(st.lists(st.integers(1, 4), max_size=3).map(tuple))
            return (
                draw(self.values(data_type, shape)),
                draw(self.values(data_type, ())),
                draw(st.sampled_from(serializers(data_type))),
            )

        return cases()
