"""A store of parts of other files, located by kerchunk references."""

from zarr_stores.references.store import ReferenceStore

__all__ = ["ReferenceStore"]
