"""A store that fails at its k-th call, under the name that the tests of this repository use."""

from zarr_stores.faults import FaultyStore
from zarr_stores.observer import READS

__all__ = ["READS", "FailingStore"]


class FailingStore(FaultyStore):
    """Fails at one call, to try what a failure leaves behind."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        # As if all were far away, so that what is tried does not depend on the inner store.
        self.in_memory = False
