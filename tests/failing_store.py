"""A store that fails at its k-th call."""

from zarr_stores.wrappers.faults import FaultyStore
from zarr_stores.wrappers.observer import READS

__all__ = ["READS", "FailingStore"]


class FailingStore(FaultyStore):
    """Fails at one call, to test the state after a failure."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        # As for a remote store, so that the calls do not depend on the inner store.
        self.in_memory = False
