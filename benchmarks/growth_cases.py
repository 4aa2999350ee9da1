"""The axes along which costs are measured, each with one operation for every library.

All libraries work on the same stored data, written by this library.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OURS = "zarr-core"
ZARR = "zarr"
TENSORSTORE = "tensorstore"
ZARRISTA = "zarrista"


@dataclass(frozen=True, slots=True)
class Operation:
    """What is measured.

    Parameters
    ----------
    run : callable
        Returns its result, so that its memory can be subtracted.
    prepare : callable, optional
        Called before each call of ``run``; not measured.
    child : bool
        Whether ``run`` starts a process whose time is measured.
    """

    run: Callable[[], object]
    prepare: Callable[[], object] | None = None
    child: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that grows.

    Parameters
    ----------
    name : str
        The operation.
    unit : str
        What is counted.
    sizes : tuple of int
        Ascending, over at least three decades where that is possible.
    make : callable
        Returns the operation of each library for a size and an empty directory.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    make: Callable[[int, Path], dict[str, Operation]]


AXES: list[Axis] = []


def _axis(name: str, unit: str, *sizes: float) -> Callable[[Any], Any]:
    def add(make: Callable[[int, Path], dict[str, Operation]]) -> Any:
        AXES.append(Axis(name, unit, tuple(map(int, sizes)), make))
        return make

    return add


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _zarr() -> Any:
    import zarr

    return zarr


def _tensorstore(path: Path) -> Any:
    import tensorstore

    kvstore = {"driver": "file", "path": f"{path}/", "file_io_sync": False}
    return tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, open=True).result()


def _zarrista(path: Path) -> Any:
    import zarrista

    return zarrista.Array.open(zarrista.store.FilesystemStore(str(path)))


def _each(
    ours: Callable[[], object] | None = None,
    zarr: Callable[[], object] | None = None,
    tensorstore: Callable[[], object] | None = None,
    zarrista: Callable[[], object] | None = None,
    prepare: Callable[[], object] | None = None,
) -> dict[str, Operation]:
    given = {OURS: ours, ZARR: zarr, TENSORSTORE: tensorstore, ZARRISTA: zarrista}
    return {
        name: Operation(run, prepare)
        for name, run in given.items()
        if run is not None and (name == OURS or _has(name))
    }


def _array(path: Path, shape: Any, chunks: Any, **options: Any) -> Any:
    options = {"dtype": "float32", "compressors": None, "fill_value": 0} | options
    return zarr_core.create_array(path, shape=shape, chunks=chunks, overwrite=True, **options)


def _readers(path: Path, read: str) -> dict[str, Operation]:
    """Return operations that call ``read`` of an open array."""
    array = zarr_core.open_array(path, mode="r")
    if read == "whole":
        return _each(
            lambda: array[...],
            _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a[...]),
            _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a.read().result()),
            _bind(
                ZARRISTA,
                lambda: _zarrista(path),
                lambda a: a.retrieve_array_subset(...).to_numpy(),
            ),
        )
    raise ValueError(read)


def _bind(
    module: str, make: Callable[[], Any], run: Callable[[Any], object]
) -> Callable[[], object] | None:
    """Return ``run`` for what ``make`` returns, if the library is installed."""
    if not _has(module):
        return None
    made = make()
    return lambda: run(made)


@_axis("open an array", "chunks in the grid", 1e3, 1e6, 1e9, 1e12)
def _open(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    _array(path, size * 4, 4)
    return _each(
        lambda: zarr_core.open_array(path, mode="r"),
        lambda: _zarr().open_array(path, mode="r"),
        lambda: _tensorstore(path),
        lambda: _zarrista(path),
    )


@_axis("read one element", "chunks in the grid", 1e3, 1e6, 1e9, 1e12)
def _element(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    _array(path, size * 4, 4)[5] = 1
    return _each(
        _bind("zarr_core", lambda: zarr_core.open_array(path, mode="r"), lambda a: a[5]),
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a[5]),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a[5].read().result()),
        _bind(ZARRISTA, lambda: _zarrista(path), lambda a: a.retrieve_array_subset(5).to_numpy()),
    )


@_axis("read the whole array", "stored chunks", 10, 1e2, 1e3, 1e4)
def _whole(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    _array(path, size * 256, 256)[...] = np.arange(size * 256)
    return _readers(path, "whole")


@_axis("read the whole array, nothing stored", "chunks in the grid", 10, 1e2, 1e3, 1e4)
def _missing(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    _array(path, size * 256, 256)
    return _readers(path, "whole")


@_axis(
    "set all elements to the fill value, 10 chunks stored", "chunks in the grid", 1e3, 1e5, 1e7, 1e9
)
def _erase(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    array = _array(path, size * 4, 4)

    def prepare() -> None:
        array[:40] = 1

    def ours() -> None:
        array[...] = 0

    def zarr(a: Any) -> None:
        a[...] = 0

    return _each(
        ours,
        None if size > 1e5 else _bind(ZARR, lambda: _zarr().open_array(path, mode="r+"), zarr),
        None
        if size > 1e5
        else _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a.write(0).result()),
        prepare=prepare,
    )


@_axis("shrink by one chunk", "stored chunks", 10, 1e2, 1e3, 1e4)
def _shrink(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "a"
    array = _array(path, size * 4, 4)
    array[...] = 1

    def prepare() -> None:
        array.resize(size * 4)
        array[-4:] = 1

    def zarr() -> None:
        _zarr().open_array(path, mode="r+").resize(size * 4 - 4)

    def tensorstore() -> None:
        _tensorstore(path).resize(exclusive_max=[size * 4 - 4]).result()

    return _each(
        lambda: zarr_core.open_array(path, mode="r+").resize(size * 4 - 4),
        zarr,
        tensorstore,
        prepare=prepare,
    )


def _group(directory: Path, size: int) -> Path:
    path = directory / "g"
    group = zarr_core.create_group(path)
    _array(path / "a0", 8, 4)
    document = json.loads((path / "a0" / "zarr.json").read_text())
    for number in range(1, size):
        (path / f"a{number}").mkdir()
        document["attributes"] = {"number": number}
        (path / f"a{number}" / "zarr.json").write_text(json.dumps(document))
    group.store.close()
    return path


@_axis("list members", "arrays in the group", 10, 1e2, 1e3, 1e4)
def _members(size: int, directory: Path) -> dict[str, Operation]:
    path = _group(directory, size)
    return _each(
        lambda: list(zarr_core.open_group(path, mode="r").members()),
        lambda: list(_zarr().open_group(path, mode="r", use_consolidated=False).members()),
    )


@_axis("list members, consolidated", "arrays in the group", 10, 1e2, 1e3, 1e4)
def _consolidated(size: int, directory: Path) -> dict[str, Operation]:
    path = _group(directory, size)
    zarr_core.consolidate_metadata(path)
    return _each(
        lambda: list(zarr_core.open_consolidated(path, mode="r").members()),
        lambda: list(_zarr().open_consolidated(path, mode="r").members()),
    )


@_axis("set an attribute of a member, consolidated", "arrays in the group", 10, 1e2, 1e3, 1e4)
def _consolidated_attribute(size: int, directory: Path) -> dict[str, Operation]:
    path = _group(directory, size)
    zarr_core.consolidate_metadata(path)
    count = 0

    def change(array: Any) -> None:
        nonlocal count
        count += 1
        array.attrs["count"] = count

    def zarr(array: Any) -> None:
        change(array)
        _zarr().consolidate_metadata(path)  # otherwise it would be outdated

    return _each(
        _bind("zarr_core", lambda: zarr_core.open_consolidated(path, mode="r+")["a1"], change),
        _bind(ZARR, lambda: _zarr().open_consolidated(path, mode="r+")["a1"], zarr),
    )


@_axis("create arrays", "arrays in the group", 1, 10, 1e2, 1e3)
def _create(size: int, directory: Path) -> dict[str, Operation]:
    def prepare() -> None:
        shutil.rmtree(directory)
        directory.mkdir()

    def run(module: Any) -> object:
        group = module.create_group(directory / "g")
        for number in range(size):
            group.create_array(f"a{number}", shape=8, chunks=4, dtype="float32")
        return None

    return _each(lambda: run(zarr_core), lambda: run(_zarr()), prepare=prepare)


@_axis("create arrays in a consolidated group, in a batch", "arrays in the group", 1, 10, 1e2, 1e3)
def _create_consolidated(size: int, directory: Path) -> dict[str, Operation]:
    def prepare() -> None:
        shutil.rmtree(directory)
        directory.mkdir()
        zarr_core.create_group(directory / "g")
        zarr_core.consolidate_metadata(directory / "g")

    def ours() -> None:
        group = zarr_core.open_consolidated(directory / "g", mode="r+")
        with group.batch():
            for number in range(size):
                group.create_array(f"a{number}", shape=8, chunks=4, dtype="float32")

    return _each(ours, prepare=prepare)


@_axis("open different arrays, kept open", "arrays", 10, 1e2, 1e3, 1e4)
def _open_kept(size: int, directory: Path) -> dict[str, Operation]:
    root = _group(directory, size)
    paths = [root / f"a{number}" for number in range(size)]
    return _each(
        lambda: [zarr_core.open_array(path, mode="r") for path in paths],
        lambda: [_zarr().open_array(path, mode="r") for path in paths],
        lambda: [_tensorstore(path) for path in paths],
        lambda: [_zarrista(path) for path in paths],
    )


def _sharded(directory: Path, inner: int) -> Path:
    path = directory / "s"
    _array(path, inner * 16, 16, shards=inner * 16)
    return path


@_axis("write a whole shard", "inner chunks", 1e3, 1e4, 1e5, 1e6)
def _shard_write(size: int, directory: Path) -> dict[str, Operation]:
    path = _sharded(directory, size)
    data = np.arange(size * 16, dtype="float32")
    array = zarr_core.open_array(path, mode="r+")

    def ours() -> None:
        array[...] = data

    def zarr(a: Any) -> None:
        a[...] = data

    return _each(
        ours,
        None if size > 1e5 else _bind(ZARR, lambda: _zarr().open_array(path, mode="r+"), zarr),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a.write(data).result()),
        _bind(ZARRISTA, lambda: _zarrista(path), lambda a: a.store_array_subset(..., data)),
    )


@_axis("write one inner chunk", "inner chunks in the shard", 1e3, 1e4, 1e5, 1e6)
def _shard_rewrite(size: int, directory: Path) -> dict[str, Operation]:
    path = _sharded(directory, size)
    array = zarr_core.open_array(path, mode="r+")
    array[...] = np.arange(size * 16, dtype="float32")
    data = np.ones(16, "float32")

    def ours() -> None:
        array[32:48] = data

    def zarr(a: Any) -> None:
        a[32:48] = data

    return _each(
        ours,
        None if size > 1e5 else _bind(ZARR, lambda: _zarr().open_array(path, mode="r+"), zarr),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a[32:48].write(data).result()),
    )


@_axis("read a whole shard", "inner chunks", 1e3, 1e4, 1e5, 1e6)
def _shard_read(size: int, directory: Path) -> dict[str, Operation]:
    path = _sharded(directory, size)
    zarr_core.open_array(path, mode="r+")[...] = np.arange(size * 16, dtype="float32")
    found = _readers(path, "whole")
    if size > 1e5:
        found.pop(ZARR, None)
    return found


@_axis("read a shard of nested shards", "levels", 1, 2, 4, 8)
def _nested(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "n"
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    edge = 256
    for _ in range(size):
        codecs = [
            {
                "name": "sharding_indexed",
                "configuration": {
                    "chunk_shape": [edge],
                    "codecs": codecs,
                    "index_codecs": [
                        {"name": "bytes", "configuration": {"endian": "little"}},
                        {"name": "crc32c"},
                    ],
                },
            }
        ]
        edge *= 2
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [edge],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [edge]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": codecs,
    }
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(document))
    zarr_core.open_array(path, mode="r+")[...] = np.arange(edge)
    return _readers(path, "whole")


def _points(size: int, directory: Path, indices: Any) -> dict[str, Operation]:
    path = directory / "p"
    _array(path, 10**7, 10**5)[...] = np.arange(10**7)
    return _each(
        _bind(
            "zarr_core", lambda: zarr_core.open_array(path, mode="r"), lambda a: a.vindex[indices]
        ),
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a.vindex[indices]),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a[indices].read().result()),
    )


@_axis("read random points", "points", 1e3, 1e4, 1e5, 1e6)
def _random(size: int, directory: Path) -> dict[str, Operation]:
    return _points(size, directory, np.random.default_rng(0).integers(0, 10**7, size))


@_axis("read sorted points", "points", 1e3, 1e4, 1e5, 1e6)
def _sorted(size: int, directory: Path) -> dict[str, Operation]:
    return _points(size, directory, np.sort(np.random.default_rng(0).integers(0, 10**7, size)))


@_axis("read with a mask in 2 dimensions, half true", "elements", 1e4, 1e5, 1e6, 1e7)
def _sparse_mask(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "m"
    shape = (math.isqrt(size), math.isqrt(size))
    _array(path, shape, (250, 250))[...] = np.arange(math.prod(shape)).reshape(shape)
    mask = np.random.default_rng(0).random(shape) < 0.5
    return _masks(path, mask)


@_axis("read with a mask, all true", "elements", 1e4, 1e5, 1e6, 1e7)
def _mask(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "m"
    _array(path, size, min(size, 10**5))[...] = np.arange(size)
    return _masks(path, np.ones(size, bool))


def _masks(path: Path, mask: Any) -> dict[str, Operation]:
    return _each(
        _bind("zarr_core", lambda: zarr_core.open_array(path, mode="r"), lambda a: a.vindex[mask]),
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a.vindex[mask]),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a[mask].read().result()),
    )


@_axis("read an element", "dimensions", 1, 2, 4, 8, 16, 32)
def _dimensions(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "d"
    array = _array(path, (2,) * size, (1,) * size)
    index = (1,) * size
    array[index] = 1
    return _each(
        lambda: array[index],
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a[index]),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a[index].read().result()),
        _bind(
            ZARRISTA,
            lambda: _zarrista(path),
            lambda a: a.retrieve_array_subset(index).to_numpy(),
        ),
    )


def _attributes(size: int, directory: Path) -> Path:
    path = directory / "t"
    attributes = {f"key {number}": [number, "some text", 1.5] for number in range(size // 40)}
    _array(path, 8, 4, attributes=attributes)
    return path


@_axis("open an array", "bytes of attributes", 1e3, 1e4, 1e5, 1e6)
def _attributes_open(size: int, directory: Path) -> dict[str, Operation]:
    path = _attributes(size, directory)
    document = json.loads((path / "zarr.json").read_text())
    count = 0

    def prepare() -> None:  # other content each time, which no cache contains
        nonlocal count
        count += 1
        document["attributes"]["count"] = count
        (path / "zarr.json").write_text(json.dumps(document))

    return _each(
        lambda: dict(zarr_core.open_array(path, mode="r").attrs),
        lambda: dict(_zarr().open_array(path, mode="r").attrs),
        lambda: _tensorstore(path),
        lambda: _zarrista(path),
        prepare=prepare,
    )


@_axis("set one attribute", "bytes of attributes", 1e3, 1e4, 1e5, 1e6)
def _attributes_set(size: int, directory: Path) -> dict[str, Operation]:
    path, other = _attributes(size, directory), directory / "other"
    shutil.copytree(path, other)
    count = 0

    def change(array: Any) -> None:
        nonlocal count
        count += 1
        array.attrs["count"] = count

    return _each(
        _bind("zarr_core", lambda: zarr_core.open_array(path, mode="r+"), change),
        # zarr-python does not read what others have stored: with the same array, it would undo it.
        _bind(ZARR, lambda: _zarr().open_array(other, mode="r+"), change),
    )


@_axis("open an array and set one attribute", "bytes of attributes", 1e3, 1e4, 1e5, 1e6)
def _attributes_first(size: int, directory: Path) -> dict[str, Operation]:
    path = _attributes(size, directory)
    document = json.loads((path / "zarr.json").read_text())
    count = 0

    def prepare() -> None:  # other content each time, which no cache contains
        nonlocal count
        count += 1
        document["attributes"]["count"] = count
        (path / "zarr.json").write_text(json.dumps(document, indent=2))

    def change(module: Any) -> None:
        module.open_array(path, mode="r+").attrs["one"] = 1

    return _each(lambda: change(zarr_core), lambda: change(_zarr()), prepare=prepare)


@_axis("append one row each", "rows", 1, 10, 1e2, 1e3)
def _append(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "r"
    row = np.ones((1, 100), "float32")

    def prepare() -> None:
        _array(path, (0, 100), (100, 100))

    def run(array: Any) -> object:
        for _ in range(size):
            array.append(row)
        return None

    def zarrista() -> None:  # neither atomic nor locked
        array = _zarrista(path)
        for number in range(size):
            array = array.with_shape((number + 1, 100))
            array.store_metadata()
            array.store_array_subset((slice(number, number + 1), slice(0, 100)), row)

    return _each(
        lambda: run(zarr_core.open_array(path, mode="r+")),
        lambda: run(_zarr().open_array(path, mode="r+")),
        None,
        zarrista,
        prepare=prepare,
    )


@_axis("write a Dask array", "tasks", 10, 1e2, 1e3, 1e4)
def _dask(size: int, directory: Path) -> dict[str, Operation]:
    import dask
    import dask.array as da
    import zarr_dask

    untyped: Any = da
    x = untyped.ones(size * 16, chunks=16, dtype="float32")

    def prepare() -> None:
        _array(directory / "k", size * 16, 16)

    def ours() -> object:
        with dask.config.set(scheduler="synchronous"):
            return zarr_dask.to_zarr(x, directory / "k", overwrite=True, chunks=16)

    def zarr() -> object:
        with dask.config.set(scheduler="synchronous"):
            return untyped.to_zarr(x, _zarr().open_array(directory / "k", mode="r+"))

    return _each(ours, zarr, prepare=prepare)


@_axis("copy an array", "stored chunks", 10, 1e2, 1e3, 1e4)
def _copy(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "c"
    _array(path, size * 16, 16)[...] = 1

    def prepare() -> None:
        shutil.rmtree(directory / "copy", ignore_errors=True)

    source = zarr_core.open_array(path, mode="r")
    return _each(lambda: zarr_core.copy(source, directory / "copy"), prepare=prepare)


@_axis("read strings", "strings", 1e3, 1e4, 1e5, 1e6)
def _strings(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "v"
    array = _array(path, size, min(size, 10**5), dtype="string", fill_value="")
    array[...] = np.array([f"text {number}" for number in range(size)], "T")
    return _each(
        lambda: array[...],
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r"), lambda a: a[...]),
    )


@_axis("write a chunk with gzip", "bytes", 1e4, 1e5, 1e6, 1e7)
def _gzip(size: int, directory: Path) -> dict[str, Operation]:
    path = directory / "z"
    codec = {"name": "gzip", "configuration": {"level": 5}}
    array = _array(path, size // 4, size // 4, compressors=[codec])
    noise = np.random.default_rng(0).normal(0, 3, size // 4)
    data = np.round(1000 * np.sin(np.arange(size // 4) / 50) + noise).astype("float32")

    def ours() -> None:
        array[...] = data

    def zarr(a: Any) -> None:
        a[...] = data

    return _each(
        ours,
        _bind(ZARR, lambda: _zarr().open_array(path, mode="r+"), zarr),
        _bind(TENSORSTORE, lambda: _tensorstore(path), lambda a: a.write(data).result()),
        _bind(ZARRISTA, lambda: _zarrista(path), lambda a: a.store_array_subset(..., data)),
    )


@_axis("import and open an array", "installed plugins", 1, 10, 1e2, 1e3)
def _plugins(size: int, directory: Path) -> dict[str, Operation]:
    _array(directory / "a", 8, 4)
    for number in range(size):
        metadata = directory / "site" / f"planted_{number}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: planted-{number}\nVersion: 1.0\n"
        )
        points = f"example.planted_{number} = planted_{number}:Codec\n"
        (metadata / "entry_points.txt").write_text(
            f"[zarr_core.codec]\n{points}\n[zarr.codecs]\n{points}"
        )
    path = os.pathsep.join([str(directory / "site"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}

    def run(module: str) -> Callable[[], object]:
        code = f"import {module}; {module}.open_array({str(directory / 'a')!r}, mode='r')"
        return lambda: subprocess.run([sys.executable, "-c", code], env=environment, check=True)

    return {
        name: Operation(operation.run, child=True)
        for name, operation in _each(run("zarr_core"), run("zarr")).items()
    }
