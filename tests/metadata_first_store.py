"""A store that accepts only the chunks that the stored metadata of their array declare."""

import json

import zarr_core as zarr
from zarr_core.errors import StoreError
from zarr_core.extension import StoreTraits


class MetadataFirstStore(zarr.MemoryStore):
    """Keeps chunks outside an array until it has grown, and does not remove those outside it."""

    traits = StoreTraits(metadata_first=True)

    def __init__(self):
        super().__init__()
        self.ahead = {}

    def declared(self, key):
        path, _, chunk = f"/{key}".rpartition("/c/")
        document = super().get(f"{path}/zarr.json".removeprefix("/"))
        metadata = {} if document is None else json.loads(bytes(document))
        if metadata.get("node_type") != "array":
            raise StoreError("no array has this chunk", store=self, key=key)
        lengths = metadata["chunk_grid"]["configuration"]["chunk_shape"]
        edges = zip(map(int, chunk.split("/")), lengths, metadata["shape"], strict=True)
        return all(number * length < size for number, length, size in edges)

    def set(self, key, value):
        if not key.endswith("zarr.json") and not self.declared(key):
            self.ahead[key] = b"".join(map(bytes, value)) if isinstance(value, list) else value
            return
        super().set(key, value)
        for name in [name for name in self.ahead if self.declared(name)]:
            super().set(name, self.ahead.pop(name))

    def erase(self, key):
        if key.endswith("zarr.json") or self.declared(key):
            super().erase(key)
