"""What every store promises, under the name that the tests of this repository use."""

from zarr_conformance.kit import StoreTests


class StoreContract(StoreTests):
    """Inherit from this, implement ``make``, and declare what the store can do."""
