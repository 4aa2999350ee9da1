"""A store in a zip archive."""

from zarr_stores.zip.store import ZipStore

__all__ = ["ZipStore"]
