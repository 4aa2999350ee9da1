"""A store that cannot list its keys, like a plain web server."""

import zarr_core as zarr
from zarr_core.errors import StoreCapabilityError


class UnlistedStore(zarr.MemoryStore):
    """Raises an error if keys are listed."""

    supports_listing = False

    def list_prefix(self, prefix):
        raise StoreCapabilityError("cannot list", self, prefix)

    list_dir = list_prefix
