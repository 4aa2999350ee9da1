"""A plugin of pytest: arrays have the native executor, and the end shows what it processed."""

import zarr_core as zarr
from zarr_native import processed_chunks
from zarr_native.executor import Executor

override = zarr.override_extensions({"native": {"default": Executor}})
override.__enter__()


def pytest_terminal_summary(terminalreporter):
    read, written = processed_chunks()
    terminalreporter.write_line(f"native: {read} read, {written} written")
