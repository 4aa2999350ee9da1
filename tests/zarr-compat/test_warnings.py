"""Warnings of zarr-python that programs and their tests filter."""

import pytest
from zarr_compat import api as zarr
from zarr_compat.errors import ZarrDeprecationWarning, ZarrRuntimeWarning, ZarrUserWarning


def test_compressor_is_deprecated():
    with pytest.warns(ZarrUserWarning, match="Use `compressors` instead"):
        assert zarr.zeros(3, compressor=None, zarr_format=2).compressors == ()


def test_write_empty_chunks_is_a_setting():
    with pytest.warns(ZarrRuntimeWarning, match="`write_empty_chunks` keyword argument"):
        assert zarr.zeros(3, write_empty_chunks=True).config.write_empty_chunks


def test_order_has_no_effect_in_version_3():
    with pytest.warns(ZarrRuntimeWarning, match="`order` keyword argument has no effect"):
        array = zarr.zeros((2, 3), order="F", zarr_format=3)
    assert [codec.name for codec in array.core.filters] == []
    assert array[:].flags.c_contiguous


def test_consolidated_metadata_is_not_specified_in_version_3():
    store = {}
    zarr.open_group(store, mode="w")
    with pytest.warns(ZarrUserWarning, match="not part in the Zarr format 3 specification"):
        zarr.consolidate_metadata(store)


@pytest.mark.parametrize("name", ["create_dataset", "require_dataset"])
def test_datasets_are_deprecated(name):
    group = zarr.open_group({}, mode="w")
    with pytest.warns(ZarrDeprecationWarning, match=f"Group.{name} is deprecated"):
        assert getattr(group, name)("a", shape=3, dtype="i4").shape == (3,)
