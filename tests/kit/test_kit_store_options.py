"""The test kit for authors refuses a store that ignores misspelt options."""

import pytest
import zarr_core as zarr
from zarr_conformance.kit import StoreTests


class Strict(zarr.MemoryStore):
    kept = {}

    @classmethod
    def from_url(cls, url, *, read_only=False, level=1):
        return cls.kept[url]

    @property
    def url(self):
        self.kept["acme-x://a"] = self
        return "acme-x://a"


class Lax(Strict):
    @classmethod
    def from_url(cls, url, *, read_only=False, **options):
        return cls.kept[url]


class Tests(StoreTests):
    __test__ = False
    name = "acme-x"
    make = again = None


@pytest.mark.parametrize("store", [Strict, Lax])
def test_ignored_options_are_noticed(store):
    with zarr.override_extensions({"store": {"acme-x": store}}):
        if store is Strict:
            Tests().test_unknown_options_are_errors(Strict())
            return
        with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
            Tests().test_unknown_options_are_errors(Lax())
