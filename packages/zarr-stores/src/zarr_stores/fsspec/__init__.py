"""A store in a file system of fsspec."""

from zarr_stores.fsspec.store import FsspecStore

__all__ = ["FsspecStore"]
