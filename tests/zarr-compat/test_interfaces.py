"""Programs whose classes derive from those of zarr-python, run with this library as ``zarr``."""

import os
import subprocess
import sys


def run(code, cwd):
    """Run a program with zarr-core as ``zarr`` in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", f"import zarr_compat; zarr_compat.install_as_zarr()\n{code}"],
        cwd=cwd, env=dict(os.environ), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout.strip()


MODULES = [
    "zarr.abc.codec", "zarr.registry", "zarr.core.common", "zarr.core.array_spec",
    "zarr.core.buffer.cpu", "zarr.core.chunk_grids", "zarr.core.metadata.v2",
    "zarr.core.metadata.v3", "zarr.core.dtype", "zarr.core.sync", "zarr.codecs.blosc",
    "zarr.codecs.sharding", "zarr.types", "zarr.testing.store",
]  # fmt: skip
"""Modules of zarr-python; test_alias.py imports those of this package."""


def test_modules_that_programs_import(tmp_path):
    """Reading and writing run no code of zarr-python; other modules are imported on request."""
    code = f"""
import importlib, sys, zarr
array = zarr.create_array("a.zarr", data=[1, 2, 3])
assert array[:].tolist() == [1, 2, 3]
used = {{name: sys.modules[name].__spec__.origin for name in sys.modules if name.startswith("zarr.")}}
print(sorted(name for name, file in used.items() if file and (
    name.startswith(("zarr.core.array", "zarr.core.group", "zarr.api", "zarr.storage"))
    and name not in ("zarr.core.array_spec", "zarr.storage._utils"))))
for name in {MODULES!r}:
    importlib.import_module(name)
"""
    assert run(code, tmp_path) == "[]"


def test_metadata_is_of_the_class_of_zarr_python(program):
    code = """
import zarr
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.codecs import BloscCodec
new = zarr.create_array({}, shape=4, dtype="f4", compressors=BloscCodec())
old = zarr.create_array({}, shape=4, dtype="f4", zarr_format=2)
assert type(new.metadata) is ArrayV3Metadata and type(old.metadata) is ArrayV2Metadata
assert isinstance(new.compressors[0], BloscCodec) and new.compressors[0].shuffle
print(new.metadata.data_type.to_native_dtype(), old.metadata.chunks)
"""
    assert program(code) == "float32 (4,)"


def test_store_of_a_program_is_opened_and_read(program):
    code = """
import zarr
class Wrapped(zarr.storage.WrapperStore[zarr.storage.MemoryStore]): pass
class Counted(zarr.storage.LoggingStore): pass
inner = zarr.storage.MemoryStore()
zarr.create_array(inner, name="a", data=[1, 2])
store = Counted(Wrapped(inner), log_level="ERROR")
assert zarr.open_group(store, mode="r")["a"][:].tolist() == [1, 2]
print(store.counter["get"] > 1, store.counter["set"])
"""
    assert program(code) == "True 0"


def test_methods_of_classes_and_coroutines(program):
    code = """
import asyncio, zarr
from zarr.storage import StorePath
store = zarr.storage.MemoryStore()
group = zarr.Group.from_store(store)
array = group.create_array("a", data=[[1, 2], [3, 4]])
assert zarr.Array.get_basic_selection(array, 0).tolist() == [1, 2]
async def read():
    opened = await zarr.AsyncArray.open(StorePath(store, "a"))
    like = await zarr.api.asynchronous.zeros_like(zarr.Array(opened))
    names = [name async for name in (await zarr.AsyncGroup.open(StorePath(store))).keys()]
    return (await opened.getitem(1)).tolist(), like.shape, names
print(asyncio.run(read()), zarr.Array[int] is not None)
"""
    assert program(code) == "([3, 4], (2, 2), ['a']) True"
