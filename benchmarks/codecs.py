"""What a codec adds to its library: ``python -m benchmarks.codecs``.

Every codec of zarr-codecs encodes and decodes one chunk, and beside it the library, or NumPy
where there is none, does the same by the barest call there is.  They take turns.  The
difference is what the codec costs for each chunk: checks of what was stored, views, names.
"""

from __future__ import annotations

import argparse
import time
import warnings
import zlib
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    ArrayRepresentation,
    BytesToBytesCodec,
    ExtensionDefinition,
    data_type_for,
    make_extension,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

numcodecs: Any = import_module("numcodecs")  # has no types

LIMIT = 5.0
"""Microseconds that a codec may add."""
SIZES = (1 << 11, 1 << 16)  # bytes of a chunk
ROUNDS = 31
SAMPLE = 0.001  # seconds


@dataclass(frozen=True)
class Case:
    """A codec and the bare calls that do what it does."""

    name: str
    configuration: dict[str, Any] = field(default_factory=dict)
    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None
    dtype: str = "f4"
    """``text`` and ``octets`` are elements of any length."""
    note: str = ""
    with_size: bool = False
    """Whether the bare decoder is told the decoded size."""


def cases() -> Iterator[Case]:
    """Every codec that is registered or that numcodecs has."""
    blosc, zstd = numcodecs.blosc, numcodecs.zstd
    configuration = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}
    yield Case(
        "blosc",
        configuration | {"blocksize": 0},
        lambda data: blosc.compress(data, b"lz4", 5, 1, 0, 4),
        blosc.decompress,
    )
    if find_spec("zstandard"):
        import zstandard

        small = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()
        calls: Any = small[0].compress, small[1].decompress
    else:
        calls = (lambda data: zstd.compress(data, 3)), zstd.decompress
    yield Case("zstd", {"level": 3, "checksum": False}, *calls)
    if find_spec("deflate"):
        import deflate

        yield Case(
            "gzip",
            {"level": 5},
            lambda data: deflate.gzip_compress(data, 5),
            deflate.gzip_decompress,
            note="a second CRC-32 tells what follows the member",
            with_size=True,
        )
    else:
        yield Case(
            "gzip",
            {"level": 5},
            lambda data: zlib.compress(data, 5, wbits=31),
            lambda data: zlib.decompress(data, wbits=31),
        )
    import google_crc32c

    value = google_crc32c.value
    yield Case(
        "crc32c",
        {},
        lambda data: data + value(data).to_bytes(4, "little"),
        lambda data: value(data[:-4]),
    )
    yield Case(
        "conditional",
        {"codecs": ["crc32c"]},
        lambda data: b"\0" + data,
        lambda data: bytes(data[1:]),
        note="no codec applied",
    )
    yield Case("transpose", {"order": [1, 0]}, np.transpose, np.transpose)
    yield Case(
        "reshape",
        {"shape": [[0, 1]]},
        lambda array: array.reshape(-1),
        lambda array: array.reshape(16, -1),
    )
    yield Case("bitround", {"keepbits": 10}, numcodecs.BitRound(10).encode, lambda array: array)
    yield Case(
        "cast_value",
        {"data_type": "int16"},
        lambda array: np.rint(array).astype("i2"),
        lambda array: array.astype("f4"),
        note="its rules need float64, ends of the range, NaN",
    )
    yield Case(
        "scale_offset",
        {"offset": 5, "scale": 0.5},
        lambda array: (array - np.float32(5)) * np.float32(0.5),
        lambda array: array / np.float32(0.5) + np.float32(5),
        note="looks for overflow",
    )
    yield Case(
        "packbits",
        {},
        lambda array: np.packbits(array, bitorder="little").tobytes(),
        lambda data: np.unpackbits(np.frombuffer(data, "u1"), bitorder="little"),
        dtype="?",
    )
    if find_spec("zfpy"):
        zfpy: Any = import_module("zfpy")
        yield Case(
            "zfp",
            {"mode": "reversible"},
            lambda array: zfpy.compress_numpy(array, write_header=False),
            None,
            note="padding, so that no more is read than there is",
        )
    for name, codec, dtype in (
        ("vlen-utf8", numcodecs.VLenUTF8(), "text"),
        ("vlen-bytes", numcodecs.VLenBytes(), "octets"),
    ):
        yield Case(name, {}, codec.encode, codec.decode, dtype=dtype)
    yield from of_numcodecs()


def of_numcodecs() -> Iterator[Case]:
    """Those that are called ``numcodecs.<id>``, beside the objects of numcodecs."""
    configurations: dict[str, tuple[dict[str, Any], str]] = {
        "adler32": ({}, "f4"),
        "astype": ({"encode_dtype": "<f8", "decode_dtype": "<f4"}, "f4"),
        "bitround": ({"keepbits": 10}, "f4"),
        "blosc": ({"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, "f4"),
        "bz2": ({"level": 1}, "f4"),
        "categorize": ({"labels": ["a0", "a1"], "dtype": "|O", "astype": "|u1"}, "text"),
        "crc32": ({}, "f4"),
        "crc32c": ({}, "f4"),
        "delta": ({"dtype": "<f4", "astype": "<f4"}, "f4"),
        "fixedscaleoffset": ({"scale": 2, "offset": 1, "dtype": "<f4", "astype": "<i2"}, "f4"),
        "fletcher32": ({}, "f4"),
        "gzip": ({"level": 1}, "f4"),
        "jenkins_lookup3": ({"initval": 0}, "f4"),
        "json2": ({}, "text"),
        "lz4": ({"acceleration": 1}, "f4"),
        "lzma": ({"preset": 1}, "f4"),
        "msgpack2": ({}, "text"),
        "packbits": ({}, "?"),
        "pcodec": ({"level": 8}, "f4"),
        "quantize": ({"digits": 2, "dtype": "<f4", "astype": "<f4"}, "f4"),
        "shuffle": ({"elementsize": 4}, "f4"),
        "zfpy": ({"mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1}, "f4"),
        "zlib": ({"level": 1}, "f4"),
        "zstd": ({"level": 1}, "f4"),
    }
    for name, (configuration, dtype) in configurations.items():
        own = {key: value for key, value in configuration.items() if key != "compression_kwargs"}
        try:
            theirs = numcodecs.get_codec({"id": name} | own)
        except (ValueError, ImportError, TypeError):
            continue  # of a library that is not installed
        yield Case(f"numcodecs.{name}", configuration, theirs.encode, theirs.decode, dtype)


def _zfp(shape: tuple[int, ...], data: bytes) -> Any:
    zfpy: Any = import_module("zfpy")

    return zfpy._decompress(data, zfpy.type_float, shape)


def chunk(dtype: str, nbytes: int) -> Any:
    """Elements of so many bytes, of which compressors can make less."""
    if dtype == "text":
        return np.array([f"a{n % 7}" for n in range(nbytes // 8)], object).reshape(16, -1)
    if dtype == "octets":
        return np.array([b"a%d" % (n % 7) for n in range(nbytes // 8)], object).reshape(16, -1)
    count = nbytes // np.dtype(dtype).itemsize
    waves = np.sin(np.arange(count) / 50) * 100
    values = np.round(waves + np.random.default_rng(0).normal(size=count), 1)
    return (values > 0 if dtype == "?" else values.astype(dtype)).reshape(16, -1)


def seconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def compare(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """Microseconds of the bare call, and what ours takes more."""
    for call in (bare, ours):
        call()
    count = max(1, int(SAMPLE / max(seconds(bare, 3), 1e-7)))
    pairs = [(seconds(bare, count), seconds(ours, count)) for _ in range(ROUNDS)]
    return 1e6 * median(a for a, _ in pairs), 1e6 * median(b - a for a, b in pairs)


def measure(case: Case, nbytes: int) -> list[tuple[float, float]]:
    """Encode, decode: the bare call and what is added."""
    array = chunk(case.dtype, nbytes)
    data_type = {"text": "string", "octets": "bytes"}.get(case.dtype)
    kind: Any = (
        data_type_for(array.dtype)
        if data_type is None
        else make_extension("data_type", ExtensionDefinition(data_type))
    )
    if case.dtype == "text":
        array = array.astype(kind.numpy_dtype)
    fill = kind.default_fill_value()
    decoded = ArrayRepresentation(array.shape, kind, fill)
    codec: Any = make_extension("codec", ExtensionDefinition(case.name, case.configuration))
    plain: Any = array.astype(object) if case.dtype == "text" else array
    assert case.encode is not None
    bare_decode: Any = case.decode
    if isinstance(codec, BytesToBytesCodec):
        codec = codec.resolve(decoded)
        data = array.tobytes()
        encoded = bytes(codec.encode(data))
        size = len(data)
        stored: Any = encoded
        bare_encoded = bytes(case.encode(data))
        ours = (lambda: codec.encode(data)), (lambda: codec.decode(encoded, size))
        bare_data: Any = data
    else:
        serial = hasattr(codec, "check")
        if not serial:
            codec.encoded_representation(decoded)
        arguments = (decoded,) if serial else ()
        stored = codec.encode(array, *arguments)
        bare_encoded = case.encode(plain)
        bare_data = plain
        ours = (
            (lambda: codec.encode(array, *arguments)),
            (lambda: codec.decode(stored, decoded)),
        )
    if case.name == "zfp":
        bare_decode = partial(_zfp, array.shape)
    bare_arguments = (len(array.tobytes()),) if case.with_size else ()
    encode = case.encode
    if case.dtype == "text":  # theirs know objects only, so turning them counts
        dtype = kind.numpy_dtype
        return [
            compare(ours[0], lambda: encode(array.astype(object))),
            compare(ours[1], lambda: np.asarray(bare_decode(bare_encoded)).astype(dtype)),
        ]
    return [
        compare(ours[0], lambda: encode(bare_data)),
        compare(ours[1], lambda: bare_decode(bare_encoded, *bare_arguments)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codecs", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="codecs whose name has this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = [f"{size >> 10} KiB {verb}" for size in SIZES for verb in ("encode", "decode")]
    print(f"microseconds of the bare call + what the codec adds; `!` above {LIMIT:.0f}\n")
    print("| codec | " + " | ".join(heads) + " | |")
    print("|---|" + "---:|" * len(heads) + "---|")
    seen, within, total = set(), 0, 0
    for case in cases():
        seen.add(case.name)
        if options.only not in case.name:
            continue
        cells = []
        for size in SIZES:
            for bare, added in measure(case, size):
                total += 1
                within += added < LIMIT
                cells.append(f"{bare:.1f} {added:+.1f}{' !' if added >= LIMIT else ''}")
        print(f"| `{case.name}` | " + " | ".join(cells) + f" | {case.note} |", flush=True)
    print(f"\n{within} of {total} within {LIMIT:.0f} microseconds")
    names = {point.name for point in entry_points(group="zarr_core.codec")}
    print("not measured: " + ", ".join(sorted(names - seen)))


if __name__ == "__main__":
    main()
