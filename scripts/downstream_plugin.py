"""A pytest plugin: run tests of other packages with zarr-core as ``zarr``, if ``DOWNSTREAM_COMPAT`` is set.

The tests of zarr-python import private names, with which they compute what they expect.  The
plugin takes them from the files of zarr-python; whatever is tested is not replaced.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

# Public names that only the tests of zarr-python use, to compute what they expect.
_EXPECTATIONS = {
    "DEFAULT_FILL_VALUE", "DefaultFillValue", "contains_array", "contains_group",
    "ensure_no_existing_node", "init_array", "parse_array_metadata",
}  # fmt: skip
_FUNCTIONS = (
    "_iter_chunk_coords", "_iter_shard_coords", "_iter_shard_keys",
    "_iter_shard_regions", "_iter_chunk_regions",
)  # fmt: skip


def _install() -> None:
    from zarr_compat import install_as_zarr  # it must precede every import of zarr

    install_as_zarr()
    if not os.environ.get("DOWNSTREAM_PRIVATE_NAMES"):
        return
    directory = Path(import_module("zarr").__zarr_python__).parent
    for name in ("zarr.storage._common", "zarr.core.array", "zarr.core.group"):
        theirs = _theirs(name, directory)
        ours = vars(import_module(name))
        for key, value in vars(theirs).items():
            private = key.startswith(("_", "default_")) or key.endswith("Like")
            if (private and not key.startswith("__")) or key in _EXPECTATIONS:
                ours.setdefault(key, value)
    _add_private_methods(sys.modules["zarr.core.array of zarr-python"])


def _theirs(name: str, directory: Path) -> ModuleType:
    """Execute a module of zarr-python under another name."""
    file = directory.joinpath(*name.split(".")[1:]).with_suffix(".py")
    other = f"{name} of zarr-python"
    spec = spec_from_file_location(other, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    module.__package__ = name.rpartition(".")[0]
    sys.modules[other] = module
    spec.loader.exec_module(module)
    return module


def _add_private_methods(theirs: ModuleType) -> None:
    from zarr_compat.array import Array
    from zarr_compat.asynchronous import AsyncArray

    for cls in (Array, AsyncArray):
        members = {name: getattr(theirs, name) for name in _FUNCTIONS}
        members["_zdtype"] = property(lambda array: array.metadata.dtype)
        members["_chunk_grid_shape"] = property(lambda array: _grid(array.shape, array.chunks))
        members["_shard_grid_shape"] = property(
            lambda array: _grid(array.shape, array.shards or array.chunks)
        )
        members["_nshards"] = property(
            lambda array: prod(_grid(array.shape, array.shards or array.chunks))
        )
        for name, member in members.items():
            setattr(cls, name, member)

    async def stored(array: Any) -> int:
        return _stored(array.node)

    for cls, value in ((Array, property(_stored)), (AsyncArray, stored)):
        setattr(cls, "_nshards_initialized", value)  # noqa: B010 - a name that neither class has


def _stored(array: Any) -> int:
    """Return the number of stored chunks, or shards if there are any."""
    return sum(1 for _ in array.core.stored.stored_chunks())


def _grid(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))


if os.environ.get("DOWNSTREAM_COMPAT"):
    _install()
