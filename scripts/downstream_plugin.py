"""A pytest plugin: run tests of other packages with zarr-core as ``zarr``, if ``DOWNSTREAM_COMPAT`` is set.

The tests of zarr-python import private names, with which they compute what they expect.  The
plugin takes them from the files of zarr-python; whatever is tested is not replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import Any

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


def _install_version_2() -> None:
    """Provide the modules of the installed zarr-python 2 that its tests import.

    They compute what the tests expect.  The interface of version 3 of zarr-python 2 is switched off in
    its releases, so its classes are never used.
    """
    import zarr
    from zarr_compat.array import Array
    from zarr_compat.group import Group

    zarr.config.set({"default_zarr_format": 2})
    found = PathFinder.find_spec("zarr")
    assert found is not None
    directory = Path(next(iter(found.submodule_search_locations or ())))
    for name in ("tests", "_storage"):
        module = ModuleType(f"zarr.{name}")
        module.__path__ = [str(directory / name)]
        sys.modules[module.__name__] = module
    for name in ("_storage.v3", "n5", "tests.test_storage_v3"):  # classes of skipped tests
        module = ModuleType(f"zarr.{name}")
        module.__getattr__ = lambda name: type(name, (), {})  # type: ignore[method-assign]  # a module
        sys.modules[module.__name__] = module
    import numcodecs
    from zarr_stores import synchronizers

    sys.modules["zarr.sync"] = synchronizers

    vars(import_module("zarr.codecs")).update(
        {name: value for name, value in vars(numcodecs).items() if name[0].isupper()}
    )
    storage = import_module("zarr.storage")
    storage.Store = MutableMapping  # type: ignore[attr-defined]  # the base class of test stores
    for name in (
        "errors",
        "context",
        "types",
        "util",
        "meta",
        "meta_v1",
        "_storage.store",
        "indexing",
    ):
        file = directory.joinpath(*name.split(".")).with_suffix(".py")
        spec = spec_from_file_location(f"zarr.{name}", file)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        ours = sys.modules.get(module.__name__)
        sys.modules[module.__name__] = module
        spec.loader.exec_module(module)
        vars(module).update(vars(ours) if ours else {})
    store = sys.modules["zarr._storage.store"]
    vars(store)["_get_metadata_suffix"] = lambda _: ".json"
    for name in ("atexit_rmglob", "atexit_rmtree"):
        setattr(storage, name, lambda path, *_, **__: rmtree(path, ignore_errors=True))
    for name in ("ABSStore", "LRUStoreCache", "meta_root", "data_root"):
        vars(storage).setdefault(name, getattr(store, name, type(name, (), {})))
    for cls in (Array, Group):
        private = {
            "_store": property(lambda node: _Version2()),
            "_version": property(lambda node: 2),
            "_path": property(lambda node: node.path),
            "_dimension_separator": property(
                lambda node: node.metadata.dimension_separator,
            ),
        }
        for name, member in private.items():
            setattr(cls, name, member)


class _Version2:
    _store_version = 2


if os.environ.get("DOWNSTREAM_COMPAT"):
    _install()
    if os.environ.get("DOWNSTREAM_VERSION_2"):
        _install_version_2()
