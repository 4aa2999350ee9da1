"""A plugin of pytest: arrays have the native executor, and the end shows what it processed.

With ZARR_NATIVE_DIRECTORIES=1, stores in memory that are created empty are directories instead.
"""

import os
import tempfile

import zarr_core as zarr
import zarr_core.stores.memory
from zarr_native import processed_chunks
from zarr_native.executor import Executor

override = zarr.override_extensions({"native": {"default": Executor}})
override.__enter__()

if os.environ.get("ZARR_NATIVE_DIRECTORIES"):
    original = zarr_core.stores.memory.MemoryStore
    folder = tempfile.TemporaryDirectory()

    def new_store(values=None, **options):
        if values:
            return original(values, **options)
        return zarr.LocalStore(tempfile.mkdtemp(dir=folder.name), **options)

    zarr_core.stores.memory.MemoryStore = new_store


def pytest_terminal_summary(terminalreporter):
    read, written = processed_chunks()
    terminalreporter.write_line(f"native: {read} read, {written} written")
