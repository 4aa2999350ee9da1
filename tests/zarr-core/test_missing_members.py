"""Errors of attributes that arrays and groups do not have."""

import pytest
import zarr_core as zarr


@pytest.mark.parametrize("kind", [zarr.Array, zarr.Group])
def test_the_error_of_a_property_is_not_hidden(kind):
    class Derived(kind):
        @property
        def broken(self):
            return self.path.upperr()

    made = zarr.create_group() if kind is zarr.Group else zarr.create_array(shape=2)
    with pytest.raises(AttributeError, match="'str' object has no attribute 'upperr'"):
        _ = Derived(made.stored).broken


@pytest.mark.parametrize("kind", [zarr.Array, zarr.Group])
def test_an_object_without_a_node_has_no_endless_recursion(kind):
    with pytest.raises(AttributeError, match="stored"):
        _ = kind.__new__(kind).path
