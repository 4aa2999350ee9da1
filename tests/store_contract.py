"""The requirements of every store."""

from zarr_conformance.kit import StoreTests


class StoreContract(StoreTests):
    """Base class of the tests of a store: implement ``make``, and declare the features of the store."""


def get_into(store, key, buffer):
    """Read a value into a buffer; return its length, which may be larger."""
    value = store.get_limited(key, len(buffer), buffer)
    if value is None or isinstance(value, int):
        return value
    buffer[: len(value)] = value
    return len(value)
