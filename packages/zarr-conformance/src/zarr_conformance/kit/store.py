"""Stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import StoreError

from zarr_conformance.kit.installation import check_installed
from zarr_conformance.kit.store_changes import StoreChangeTests
from zarr_conformance.kit.store_keys import StoreKeyTests
from zarr_conformance.kit.store_values import StoreValueTests

if TYPE_CHECKING:
    from zarr_core.extension import Store


class StoreTests(StoreValueTests, StoreKeyTests, StoreChangeTests):
    """Inherit from this to test a store.

    Say how to ``make`` an empty one, how to open it ``again``, and which of the
    capabilities it lacks.  A test that cannot hold is switched off by ``test_x = None``.

    Examples
    --------
    >>> class TestLog(StoreTests):
    ...     name = "acme-log"
    ...     def make(self, tmp_path):
    ...         return LogStore(tmp_path / "store.log")
    ...     def again(self, store, *, read_only):
    ...         return LogStore(store.path, read_only=read_only)
    """

    name: ClassVar[str | None] = None
    """The scheme of its URLs, which is the name of its entry point; None if it has none."""

    def test_is_installed(self) -> None:
        """An entry point provides the scheme without conflicts."""
        if self.name is not None:
            check_installed("store", self.name)

    def test_url_opens_store(self, store: Store) -> None:
        """``open`` finds the store by its URL."""
        if self.name is None:
            return
        store.set("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
        url = store.url
        store.close()
        assert url.startswith(f"{self.name}://")
        opened = zarr.open_group(url, mode="r").store
        assert opened == store
        assert opened.read_only
        opened.close()

    def test_unknown_options_are_errors(self, store: Store) -> None:
        """A misspelt option in ``storage_options`` is an error, not ignored."""
        if self.name is None:
            return
        store.set("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
        url = store.url
        store.close()
        with pytest.raises((TypeError, ValueError, StoreError)):
            zarr.open_group(url, mode="r", storage_options={"no_such_option": True})

    def test_hierarchy_round_trip(self, store: Any) -> None:
        """Groups and arrays are written, changed, listed, and read through another object."""
        root = zarr.create_group(store, attributes={"title": "kit"})
        values = np.arange(300, dtype="int32").reshape(20, 15)
        array = root.create_array("a/field", data=values, chunks=(6, 4), compressors=None)
        if self.can_erase:
            array[3:9, ::2] = values[3:9, ::2] = -5
        store.close()
        other = self.again(store, read_only=True)
        again: Any = zarr.open_group(other, mode="r")
        assert again.attrs["title"] == "kit"
        assert [path for path, _ in again.members(max_depth=None)] == ["a", "a/field"]
        assert np.array_equal(again["a/field"][...], values)
        other.close()
