"""Random arrays of all layouts, and random selections of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core as zarr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

LAYOUTS = (
    "regular",
    "sharded",
    "sharded, index first",
    "nested shards",
    "rectilinear",
    "F order",
    "version 2",
    "version 2, F order",
    "compressed shards",
)
DTYPES = ("uint8", "int16", "float32", "float64", "bool", ">i4")


def random_layout(random: Random, kind: str, most: int = 1 << 18) -> dict[str, Any]:
    """Return arguments of create_array; the array has about ``most`` elements."""
    ndim = random.randint(1, 3)
    side = round(most ** (1 / ndim))
    shape = [random.randint(max(1, side // 3), side) for _ in range(ndim)]
    chunks = [max(1, random.randint(1, size) // random.choice((1, 1, 1, 2, 5))) for size in shape]
    while np.prod([-(-size // part) for size, part in zip(shape, chunks, strict=True)]) > 400:
        chunks = [min(size, 2 * part) for size, part in zip(shape, chunks, strict=True)]
    options: dict[str, Any] = {"shape": tuple(shape), "chunks": tuple(chunks)}
    options["dtype"] = random.choice(DTYPES)
    options["compressors"] = random.choice((None, None, "gzip", "zstd"))
    if random.random() < 0.2:
        options["filters"] = None
    if "version 2" in kind:
        options["zarr_format"] = 2
    if "F order" in kind:
        options["order"] = "F"
    if kind == "rectilinear":
        options["chunks"] = tuple(
            _lengths(random, size, part) for size, part in zip(shape, chunks, strict=True)
        )
    if "shard" in kind:
        inner = [max(1, part // random.randint(1, 6)) for part in chunks]
        options["shards"] = tuple(
            part * random.randint(1, max(1, size // part))
            for part, size in zip(inner, shape, strict=True)
        )
        options["chunks"] = tuple(inner)
    if kind == "sharded, index first":
        options["serializer"] = sharding(options.pop("chunks"), options.pop("compressors"), "start")
        options["chunks"], options["compressors"] = options.pop("shards"), None
    if kind == "nested shards":
        inner = options["chunks"]
        middle = [part * random.randint(1, 3) for part in inner]
        options["chunks"] = tuple(part * random.randint(1, 4) for part in middle)
        below = sharding(inner, options["compressors"], random.choice(("start", "end")))
        options["serializer"] = sharding(middle, None, "end", below)
        del options["shards"]
        options["compressors"] = None
    if kind == "compressed shards":
        options["serializer"] = sharding(options.pop("chunks"), None, "end")
        options["chunks"] = options.pop("shards")
        options["compressors"] = "gzip"
    return options


def sharding(
    inner: Any, compressors: str | None, location: str, serializer: Any = None
) -> dict[str, Any]:
    """Return the sharding codec as JSON."""
    codecs: list[Any] = [serializer or {"name": "bytes", "configuration": {"endian": "little"}}]
    if compressors:
        codecs.append(
            {
                "name": compressors,
                "configuration": {"level": 1}
                | ({"checksum": False} if compressors == "zstd" else {}),
            }
        )
    crc = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [*inner],
            "codecs": codecs,
            "index_codecs": crc,
            "index_location": location,
        },
    }


def _lengths(random: Random, size: int, about: int) -> tuple[int, ...]:
    lengths: list[int] = []
    while sum(lengths) < size:
        lengths.append(min(random.randint(max(1, about // 2), about + 1), size - sum(lengths)))
    return tuple(lengths)


def random_array(random: Random, kind: str, store: Any, most: int = 1 << 18) -> zarr.Array:
    """Create an array of which some chunks are missing."""
    array = zarr.create_array(store, **random_layout(random, kind, most))
    if random.random() < 0.4:
        array[...] = elements(random, array, array.shape)
        return array
    for _ in range(random.randint(0, 4)):
        box = tuple(_slice(random, size, 1) for size in array.shape)
        array[box] = elements(random, array, array[box].shape)
    return array


def elements(random: Random, array: zarr.Array, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return random elements; few of them are the fill value."""
    generator = np.random.default_rng(random.getrandbits(32))
    kinds = random.choice((2, 250))
    return generator.integers(0, kinds, shape).astype(array.dtype)


def _slice(random: Random, size: int, step: int) -> slice:
    start = random.randint(0, size - 1)
    return slice(start, random.randint(start + 1, size), step)


def random_selection(random: Random, array: zarr.Array) -> tuple[str, Any]:
    """Return a kind of indexing and a selection."""
    shape = array.shape
    kind = random.choice(
        ("basic", "basic", "basic", "orthogonal", "coordinate", "mask", "block", "fancy")
    )
    if kind == "mask":
        mask = np.zeros(shape, bool)
        if random.random() < 0.5:
            mask[tuple(_slice(random, size, 1) for size in shape)] = True
        for _ in range(random.randint(0, 9)):
            mask[tuple(random.randrange(size) for size in shape)] = True
        return kind, mask
    if kind == "coordinate":
        count = random.choice((1, 3, 20, 300))
        return kind, tuple(
            np.array([random.randrange(size) for _ in range(count)]) for size in shape
        )
    if kind == "block":
        return kind, tuple(_slice(random, count, 1) for count in array.cdata_shape)
    items: list[Any] = []
    for size in shape:
        choice = random.random()
        if kind == "basic" and choice < 0.2:
            items.append(random.randrange(-size, size))
        elif choice < 0.35:
            items.append(slice(None))
        elif choice < 0.5:
            items.append(_slice(random, size, random.randint(1, size)))
        elif choice < 0.6:
            items.append(slice(None, None, -random.randint(1, size)))
        elif kind == "basic" or choice < 0.8:
            items.append(_slice(random, size, 1))
        else:
            items.append([random.randrange(size) for _ in range(random.choice((1, 2, 9)))])
    lists = [item for item in items if isinstance(item, list)]
    if kind == "fancy":  # arrays broadcast
        for item in lists[1:]:
            item[:] = (item * len(lists[0]))[: len(lists[0])]
        return kind, tuple(items)
    return kind, tuple(items)


def reader(array: zarr.Array, kind: str) -> Callable[..., Any]:
    """Return the method of the array for a kind of indexing."""
    if kind == "fancy":
        return array.__getitem__
    method: Callable[..., Any] = getattr(array, f"get_{kind}_selection")
    return method


def cases(
    random: Random, count: int, each: int, store: Callable[[int], Any]
) -> Iterator[tuple[str, zarr.Array, str, Any]]:
    """Iterate over layouts and arrays, each with several kinds of indexing and selections."""
    for number in range(count):
        layout = LAYOUTS[number % len(LAYOUTS)]
        most = random.choice((1 << 12, 1 << 16, 1 << 20))
        array = random_array(random, layout, store(number), most)
        for _ in range(each):
            yield layout, array, *random_selection(random, array)
