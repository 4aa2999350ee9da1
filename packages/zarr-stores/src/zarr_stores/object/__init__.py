"""A store in a bucket or on an HTTP server, through obstore."""

from zarr_stores.object.store import ObjectStore

__all__ = ["ObjectStore"]
