"""Failed conversions: remaining keys and messages; stores that require metadata first."""

import numpy as np
import pytest
import zarr_core
from failing_store import FailingStore
from zarr_core.errors import ZarrError
from zarr_transfer import convert

VALUES = np.arange(1, 37).reshape(6, 6)


class FirstStore(FailingStore):
    """Requires metadata first."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        self.traits = self.traits._replace(metadata_first=True)


def version_2():
    store = zarr_core.MemoryStore()
    root = zarr_core.create_group(store, zarr_format=2, attributes={"title": "v2"})
    root.create_array("a/one", data=VALUES, chunks=(3, 3))
    root.create_array("two", data=VALUES, chunks=(2, 2))
    return store


@pytest.mark.parametrize("layout", [{}, {"chunks": (2, 6)}], ids=["copied", "decoded"])
@pytest.mark.parametrize("kind", [FailingStore, FirstStore])
def test_remains_are_named_and_resumed(kind, layout):
    counted = kind(zarr_core.MemoryStore())
    convert(version_2(), counted, dest_path="x/y", **layout)
    order = [key for operation, key in counted.calls if operation in ("set", "update")]
    order = [key for key in order if key.startswith("x/y/two/") and ".copying" not in key]
    assert order.index("x/y/two/zarr.json") == (0 if kind is FirstStore else len(order) - 1)
    for number in range(1, len(counted.calls) + 1):
        store = zarr_core.MemoryStore()
        try:
            convert(version_2(), kind(store, fail_at=number), dest_path="x/y", **layout)
        except ZarrError as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
        else:
            continue  # the failed value is not required
        left = list(store.list())
        if kind is FirstStore:
            assert not any(key.startswith("x/y") for key in left), (number, left, notes)
        elif any(key.startswith("x/y/") for key in left):
            assert "'/x/y': is incomplete; convert again, without overwrite" in notes
        convert(version_2(), store, dest_path="x/y", **layout)
        there = zarr_core.open_group(store, path="x/y")
        assert np.array_equal(there["a/one"][...], VALUES)
        assert np.array_equal(there["two"][...], VALUES)


def test_in_place_conversion_gives_no_removal_advice():
    counted = FailingStore(version_2())
    convert(counted)
    for number in range(1, len(counted.calls) + 1):
        store = version_2()
        try:
            convert(FailingStore(store, fail_at=number))
        except ZarrError as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            assert "rmdir" not in notes
            convert(store)
        assert np.array_equal(zarr_core.open_group(store, zarr_format=3)["two"][...], VALUES)
