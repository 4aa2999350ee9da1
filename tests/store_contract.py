"""The requirements of every store."""

from zarr_conformance.kit import StoreTests


class StoreContract(StoreTests):
    """Base class of the tests of a store: implement ``make``, and declare the features of the store."""
