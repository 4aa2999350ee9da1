"""Which of xarray's own tests fail on zarr-core, each with the reason."""

import re

_CODECS = "codecs in encodings are definitions here, not objects of numcodecs or zarr-python"
_NO_WARNING = "groups without consolidated metadata are no reason to warn"
_INSIDES = "looks at insides of xarray's own store, or counts calls of zarr-python"
_STRANGE_ZIP = "a ZipStore of zarr-python cannot be opened twice; fails with zarr-python as well"

EXPLAINED = {
    r"::test_compressor_encoding\[": _CODECS,
    r"DatatreeIO::test_zarr_encoding\[": _CODECS,
    r"(Directory|Dict)Store::test_read_non_consolidated_warning\[": _NO_WARNING,
    r"WriteEmpty::test_read_non_consolidated_warning\[": _NO_WARNING,
    r"DatatreeIO::test_to_zarr_not_consolidated\[": _NO_WARNING,
    r"::test_cache_members\[": _INSIDES,
    r"::test_avoid_excess_metadata_calls\[": _INSIDES,
    r"::test_(async_load_multiple_variables|concurrent_load_multiple_objects)\[": _INSIDES,
    r"::test_indexing\[": _INSIDES,
    r"::TestDataArrayToZarr::.*\[ZipStore\]": _STRANGE_ZIP,
    r"::test_roundtrip_None_variable\[3\]": (
        'version 3 reserves names that begin with "__"; xarray calls that variable "__values__"'
    ),
    r"::test_zarr_fill_value_setting\[2": "xarray ignores use_zarr_fill_value_as_mask=False",
    r"::test_zarr_fill_value_in_encoding_on_read\[2\]": "not for version 2, says the test itself",
    r"DatatreeIO::test_to_zarr_compute_false\[zarr_format=2\]": (
        "where version 2 gives no fill value, chunks of zeros are stored"
    ),
    r"::test_hidden_zarr_keys\[3\]": "looks for an attribute that is of version 2",
    r"::test_dimension_names\[2\]": "metadata of version 2 have dimension_names here: None",
}


def reason_for(name: str) -> str | None:
    """Why a test fails, or None if it must not."""
    for pattern, reason in EXPLAINED.items():
        if re.search(pattern, name):
            return reason
    return None
