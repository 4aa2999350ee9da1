"""Every option of TensorStore's zarr3 driver has a row in the documentation, and every row is true."""

import json
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_stores.cache.lru_cache import CachePool, LRUCacheStore
from zarr_stores.cache.recheck import recheck

ts = pytest.importorskip("tensorstore")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coming-from-tensorstore.md"
OPTIONS = json.loads((Path(__file__).parent / "tensorstore_options.json").read_text())["options"]


def refuses(call):
    try:
        call()
    except Exception:
        return True
    return False


def at(place, **options):
    """Open an array with TensorStore."""
    return ts.open({"driver": "zarr3", "kvstore": f"file://{place}/", **options}).result()


def threads_are(number):
    with zarr.config.set(threads=number):
        return zarr.config.settings.threads == number


def created(array):
    """Whether elements are read as they were written."""
    array[...] = np.arange(24, dtype="u2").reshape(4, 6)
    return np.asarray(array[1, 2]) == 8


def cached_metadata(path):
    """Whether two stores share one read of a metadata document."""
    pool = CachePool(10**6)
    stores = [LRUCacheStore(zarr.LocalStore(path), pool) for _ in range(2)]
    return [zarr.open(store).shape for store in stores] == [(4, 6)] * 2 and pool.cache_info()[
        :2
    ] == (1, 1)


def holds(check, folder):
    path = folder / "a"
    zarr.create_array(
        path, shape=(4, 6), chunks=(2, 3), dtype="i4", compressors="gzip",
        attributes={"units": "m"},
    )  # fmt: skip

    def writes(array):
        """Whether a chunk of zeros is stored."""
        array[:2, :3] = np.zeros((2, 3), "i4")
        return (path / "c" / "0" / "0").exists()

    names = {
        "ts": ts, "zarr": zarr, "path": str(path), "parent": str(folder), "new": str(folder / "n"),
        "refuses": refuses, "at": at, "writes": writes, "threads_are": threads_are, "LRUCacheStore": LRUCacheStore, "recheck": recheck,
        "CachePool": CachePool, "cached_metadata": cached_metadata, "created": created, "tensorstore": lambda **options: at(path, **options),
    }  # fmt: skip
    return bool(eval(check, names))


@pytest.mark.parametrize(
    ("theirs", "ours"), [row[2:] for row in OPTIONS], ids=[row[0] for row in OPTIONS]
)
def test_the_option_and_what_replaces_it_work(theirs, ours, tmp_path):
    assert not theirs or holds(theirs, tmp_path / "theirs")
    assert holds(ours, tmp_path / "ours")


def test_the_page_has_these_rows():
    assert not [row for row in OPTIONS if "|" in row[0] + row[1]], "it would end a cell"
    text = PAGE.read_text()
    shown = text[text.index("<!-- options: begin") : text.index("<!-- options: end")]
    rows = [f"| `{option}` | {here} |" for option, here, _, _ in OPTIONS]
    assert [line for line in shown.splitlines() if line.startswith("| ")][1:] == rows


def test_every_option_of_the_driver_has_a_row():
    documented = " ".join(option for option, *_ in OPTIONS)
    driver = """driver kvstore context dtype rank transform schema path open create delete_existing
        assume_metadata assume_cached_metadata cache_pool metadata_cache_pool data_copy_concurrency
        recheck_cached_metadata recheck_cached_data fill_missing_data_reads
        store_data_equal_to_fill_value metadata"""
    members = """shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes
        dimension_names"""
    values = """transpose bytes sharding_indexed gzip blosc zstd crc32c order endian chunk_shape
        index_codecs index_location level cname clevel shuffle typesize blocksize separator int4
        bfloat16 zarr_format node_type dimension_units labels read_chunk write_chunk inner_order
        grid_origin elements aspect_ratio expand_only shrink_only resize_metadata_only"""
    for option in (*driver.split(), *values.split()):
        assert option in documented
    for member in members.split():
        assert f"metadata.{member}" in documented
