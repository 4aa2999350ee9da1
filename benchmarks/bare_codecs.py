"""Direct calls of the libraries of codecs.

A bare call is given the same memory as the codec, gives the same elements or bytes, trusts
everything: lengths, types, what follows the end.  Where no library does the work it is the
plainest expression of NumPy.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

numcodecs: Any = import_module("numcodecs")  # has no types

STRING = np.dtypes.StringDType()
"""Elements of ``text`` in memory; numcodecs supports only objects."""


@dataclass(frozen=True)
class Case:
    """A codec and the equivalent direct calls.

    Parameters
    ----------
    name : str
        The codec.
    encode, decode : callable
        The bare calls, from what the codec is given to what it gives.  A decoder of
        arrays is also given the shape.
    configuration : dict
        Of the codec.
    dtype : str
        Of the elements; ``text``, ``octets`` and ``arrays`` have any length.
    decode_into : callable, optional
        For codecs of bytes, where the library can decode into memory: from encoded
        bytes and that memory.  If not given, the bare call decodes, then copies.
    note : str
        What the codec has to do that the bare call does not.
    """

    name: str
    encode: Callable[[Any], Any]
    decode: Callable[..., Any]
    configuration: dict[str, Any] = field(default_factory=dict)
    dtype: str = "f4"
    decode_into: Callable[[Any, Any], Any] | None = None
    note: str = ""


def cases() -> Iterator[Case]:
    """Return all codecs that do not consist of other codecs."""
    yield from compressors()
    yield from checksums()
    yield from rearranging()
    yield from numbers()
    yield from compressed_numbers()
    yield from any_length()


# --- bytes to bytes ---


def compressors() -> Iterator[Case]:
    blosc, lz4 = numcodecs.blosc, numcodecs.lz4
    lz4_in_blosc = {"cname": "lz4", "clevel": 5, "blocksize": 0}
    for name, more in (
        ("blosc", {"shuffle": "shuffle", "typesize": 4}),
        ("numcodecs.blosc", {"shuffle": 1}),
    ):
        yield Case(
            name,
            lambda data: blosc.compress(data, b"lz4", 5, 1, 0, 4),
            blosc.decompress,
            lz4_in_blosc | more,
            decode_into=blosc.decompress,
        )
    yield zstd("zstd", {"level": 3, "checksum": False})
    yield zstd("numcodecs.zstd", {"level": 3})
    yield Case(
        "numcodecs.lz4",
        lambda data: lz4.compress(data, 1),
        lz4.decompress,
        {"acceleration": 1},
        decode_into=lz4.decompress,
    )
    yield from deflating()
    yield Case("numcodecs.bz2", lambda data: bz2.compress(data, 1), bz2.decompress, {"level": 1})
    yield Case(
        "numcodecs.lzma",
        lambda data: lzma.compress(data, preset=1),
        lzma.decompress,
        {"preset": 1},
    )
    shuffle = numcodecs.Shuffle(4)
    yield Case("numcodecs.shuffle", shuffle.encode, shuffle.decode, {"elementsize": 4})


def zstd(name: str, configuration: dict[str, Any]) -> Case:
    if find_spec("zstandard"):
        zstandard: Any = import_module("zstandard")
        compress = zstandard.ZstdCompressor(level=3).compress
        return Case(name, compress, zstandard.ZstdDecompressor().decompress, configuration)
    library = numcodecs.zstd
    decompress = library.decompress
    return Case(
        name,
        lambda data: library.compress(data, 3),
        decompress,
        configuration,
        decode_into=decompress,
    )


def deflating() -> Iterator[Case]:
    deflate: Any = import_module("deflate") if find_spec("deflate") else None
    follows = "checks for data after the stream"
    for name in ("gzip", "numcodecs.gzip"):
        if deflate is None:
            yield Case(
                name,
                lambda data: zlib.compress(data, 5, wbits=31),
                partial(zlib.decompress, wbits=31),
                {"level": 5},
            )
        else:
            yield Case(
                name,
                lambda data: deflate.gzip_compress(data, 5),
                Sized(deflate.gzip_decompress),
                {"level": 5},
                note=follows,
            )
    yield Case(
        "numcodecs.zlib",
        lambda data: zlib.compress(data, 1),
        zlib.decompress if deflate is None else Sized(deflate.zlib_decompress),
        {"level": 1},
        note="" if deflate is None else follows,
    )


@dataclass(frozen=True)
class Sized:
    """A decoder that requires the decoded size."""

    call: Callable[[Any, int], Any]

    def __call__(self, data: Any) -> Any:
        raise TypeError("requires a size")

    def bound(self, size: int) -> Callable[[Any], Any]:
        call = self.call
        return lambda data: call(data, size)


def checksums() -> Iterator[Case]:
    crc32c: Any = import_module("google_crc32c")
    jenkins: Any = import_module("numcodecs.jenkins").jenkins_lookup3
    fletcher32 = numcodecs.fletcher32.Fletcher32()

    def of_crc32c(data: Any) -> int:  # which does not take a memoryview
        value: int = crc32c.value(data if type(data) is bytes else np.frombuffer(data, np.uint8))
        return value

    for name, checksum, at_start in (
        ("crc32c", of_crc32c, False),
        ("numcodecs.crc32c", of_crc32c, False),
        ("numcodecs.crc32", zlib.crc32, True),
        ("numcodecs.adler32", zlib.adler32, True),
        ("numcodecs.jenkins_lookup3", lambda data: jenkins(data, 0), False),
    ):
        yield Case(
            name,
            partial(_sealed, checksum, at_start),
            partial(_unsealed, checksum, at_start),
        )
    yield Case("numcodecs.fletcher32", fletcher32.encode, fletcher32.decode)


def _sealed(checksum: Callable[[Any], int], at_start: bool, data: Any) -> bytes:
    seal = checksum(data).to_bytes(4, "little")
    return b"".join((seal, data) if at_start else (data, seal))


def _unsealed(checksum: Callable[[Any], int], at_start: bool, data: Any) -> memoryview:
    view = memoryview(data)
    seal, content = (view[:4], view[4:]) if at_start else (view[-4:], view[:-4])
    if int.from_bytes(seal, "little") != checksum(content):
        raise ValueError("another checksum")
    return content


# --- the same numbers, elsewhere or fewer ---


def rearranging() -> Iterator[Case]:
    yield Case(
        "bytes",
        lambda array: array.tobytes(),
        lambda data, shape: np.frombuffer(data, "f4").reshape(shape),
        {"endian": "little"},
    )
    yield Case(
        "conditional",
        lambda data: b"".join((b"\0", data)),
        lambda data: memoryview(data)[1:],
        {"codecs": ["crc32c"]},
        note="no codec applied",
    )
    yield Case(
        "transpose",
        lambda array: array.transpose(1, 0),
        lambda array, _: array.transpose(1, 0),
        {"order": [1, 0]},
    )
    yield Case(
        "reshape",
        lambda array: array.reshape(-1),
        lambda array, shape: array.reshape(shape),
        {"shape": [[0, 1]]},
    )
    yield Case(
        "packbits",
        lambda array: np.packbits(array, bitorder="little").tobytes(),
        lambda data, shape: (
            np.unpackbits(np.frombuffer(data, "u1"), bitorder="little").view("?").reshape(shape)
        ),
        dtype="?",
    )
    yield Case(
        "numcodecs.packbits",
        lambda array: np.concatenate((np.zeros(1, "u1"), np.packbits(array))),
        lambda array, shape: np.unpackbits(array[1:]).view("?").reshape(shape),
        dtype="?",
    )


def numbers() -> Iterator[Case]:
    rounding = numcodecs.BitRound(10)
    for name in ("bitround", "numcodecs.bitround"):
        yield Case(name, rounding.encode, lambda array, _: array, {"keepbits": 10})
    yield Case(
        "cast_value",
        lambda array: np.rint(array).astype("i2"),
        lambda array, _: array.astype("f4"),
        {"data_type": "int16"},
        note="rejects numbers out of range, NaN",
    )
    yield Case(
        "scale_offset",
        lambda array: (array - np.float32(5)) * np.float32(0.5),
        lambda array, _: array / np.float32(0.5) + np.float32(5),
        {"offset": 5, "scale": 0.5},
        note="rejects values that overflow",
    )
    yield Case(
        "numcodecs.astype",
        lambda array: array.astype("f8"),
        lambda array, _: array.astype("f4"),
        {"encode_dtype": "<f8", "decode_dtype": "<f4"},
    )
    yield Case(
        "numcodecs.delta",
        lambda array: np.diff(array.reshape(-1), prepend=np.float32(0)),
        lambda array, shape: np.cumsum(array, dtype="f4").reshape(shape),
        {"dtype": "<f4", "astype": "<f4"},
    )
    yield Case(
        "numcodecs.fixedscaleoffset",
        lambda array: np.around((array - 1) * 2).astype("i2"),
        lambda array, _: (array / 2 + 1).astype("f4"),
        {"scale": 2, "offset": 1, "dtype": "<f4", "astype": "<i2"},
    )
    yield Case(
        "numcodecs.quantize",
        lambda array: np.around(array * np.float32(128)) / np.float32(128),
        lambda array, _: array,
        {"digits": 2, "dtype": "<f4", "astype": "<f4"},
    )


# --- numbers to bytes ---


def compressed_numbers() -> Iterator[Case]:
    if find_spec("zfpy"):
        zfpy: Any = import_module("zfpy")
        cut = "checks for a truncated stream"
        yield Case(
            "zfp",
            lambda array: zfpy.compress_numpy(array, write_header=False),
            lambda data, shape: zfpy._decompress(data, zfpy.type_float, shape),
            {"mode": "reversible"},
            note=cut,
        )
        yield Case(
            "numcodecs.zfpy",
            lambda array: zfpy.compress_numpy(array, tolerance=0.001),
            lambda data, _: zfpy.decompress_numpy(data),
            {"mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1},
            note=cut,
        )
    if find_spec("pcodec"):
        standalone: Any = import_module("pcodec.standalone")
        settings = import_module("pcodec").ChunkConfig(compression_level=8)

        def decode(data: Any, shape: tuple[int, ...]) -> Any:
            array = np.empty(shape[0] * shape[1], "f4")
            standalone.simple_decompress_into(data, array)
            return array.reshape(shape)

        yield Case(
            "numcodecs.pcodec",
            lambda array: standalone.simple_compress(array.reshape(-1), settings),
            decode,
            {"level": 8},
        )


# --- elements of any length ---


def any_length() -> Iterator[Case]:
    """Codecs of numcodecs for objects; the conversion from strings of NumPy is included."""
    texts, arrays = numcodecs.VLenUTF8(), numcodecs.VLenArray("<i4")
    octets = numcodecs.VLenBytes()
    yield Case(
        "vlen-utf8",
        lambda array: texts.encode(array.astype(object)),
        lambda data, shape: texts.decode(data).astype(STRING).reshape(shape),
        dtype="text",
    )
    yield Case(
        "vlen-bytes",
        octets.encode,
        lambda data, shape: octets.decode(data).reshape(shape),
        dtype="octets",
    )
    yield Case(
        "numcodecs.vlen-array",
        arrays.encode,
        lambda data, shape: arrays.decode(data).reshape(shape),
        {"dtype": "<i4"},
        dtype="arrays",
    )
    labels = {"labels": ["a0", "a1"], "dtype": "|O", "astype": "|u1"}
    yield of_objects("categorize", labels)
    yield of_objects("json2", {})
    if find_spec("msgpack"):
        yield of_objects("msgpack2", {})


def of_objects(name: str, configuration: dict[str, Any]) -> Case:
    theirs = numcodecs.get_codec({"id": name} | configuration)
    return Case(
        f"numcodecs.{name}",
        lambda array: theirs.encode(array.astype(object)),
        lambda data, shape: theirs.decode(data).astype(STRING).reshape(shape),
        configuration,
        dtype="text",
    )
