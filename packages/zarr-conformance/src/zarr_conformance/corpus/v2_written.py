"""Arrays and groups of version 2 that implementations write; the stored bytes are judged."""

from __future__ import annotations

import base64
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import OMITTED, array_2
from zarr_conformance.corpus.v2_data_types import needed
from zarr_conformance.corpus.written_elements import (
    ATTRIBUTES,
    LARGE_INTEGERS,
    bool_fills,
    complex_fills,
    float_fills,
    integer_fills,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.written_elements import Fill

_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "10ns")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _fill_values()
    yield from _times()
    yield from _bytes_and_text()
    yield from _records()
    yield from _compressors()
    yield from _filters()
    yield from _layouts()
    yield from _attributes()
    yield from _nodes()


def created(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    metadata: dict[str, Any],
    data: bytes,
    path: str = "",
    needs: tuple[str, ...] = (),
) -> Case:
    """Return a case that creates an array and writes all elements."""
    return Case(
        f"v2/written/{_lower_case(name)}",
        tuple(f"v2.{clause}" for clause in clauses),
        summary,
        "create",
        Accept(Node(values=Values(data))),
        path=path,
        zarr_format=2,
        needs=(*needs, *needed(metadata["dtype"])),
        document=metadata,
    )


def _typed(dtype: Any, fill_value: Any, **members: Any) -> dict[str, Any]:
    return array_2(shape=[8], chunks=[2], dtype=dtype, fill_value=fill_value, **members)


# --- data types and fill values ---


def _numbers() -> Iterator[tuple[str, list[Fill]]]:
    yield "|b1", bool_fills()
    for sign, size in product("iu", (1, 2, 4, 8)):
        name = f"{'u' if sign == 'u' else ''}int{8 * size}"
        for order in "|" if size == 1 else "<>":
            yield f"{order}{sign}{size}", integer_fills(name)
    for size, order in product((2, 4, 8), "<>"):
        # Version 2 has no hexadecimal fill values.
        fills = [fill for fill in float_fills(f"float{8 * size}") if fill.kind != "hex"]
        yield f"{order}f{size}", fills


def _lower_case(name: str) -> str:
    """Return a part of an id with words instead of capital letters of data types and units."""
    name = name.replace("M8", "datetime8")
    words = {"D": "day", "M": "month", "S": "bytes", "U": "unicode", "V": "void", "W": "week"}
    return "".join((words | {"Y": "year"}).get(letter, letter) for letter in name)


def _slug(dtype: str) -> str:
    for character, letter in (("<", "l"), (">", "b"), ("|", "n"), ("[", "-"), ("]", "")):
        dtype = dtype.replace(character, letter)
    return dtype


def _fill_values() -> Iterator[Case]:
    for dtype, fills in _numbers():
        for fill in (*fills, None):
            data = fills[0].data if fill is None else fill.data
            clauses: tuple[str, ...] = ("array.fill-value", "dtype.byte-order", "dtype.kinds")
            if fill is not None and fill.kind in ("nan", "infinity"):
                clauses += ("fill.float",)
            yield created(
                f"{_slug(dtype)}/{'null' if fill is None else fill.name}",
                clauses,
                f"An array of {dtype} is written with this fill value.",
                # Without a fill value every chunk is stored: there is nothing to leave out.
                _typed(dtype, None if fill is None else fill.value),
                data,
            )
    for size, order in product((8, 16), "<>"):
        for fill in complex_fills(f"complex{8 * size}"):
            if any(str(item).startswith("0x") for item in fill.value):
                continue
            yield created(
                f"{_slug(f'{order}c{size}')}/{fill.name}",
                ("dtype.byte-order", "dtype.kinds", "chunks.missing"),
                "Complex elements are written in both parts exactly.",
                _typed(f"{order}c{size}", None),
                fill.data,
            )


def _times() -> Iterator[Case]:
    for kind, order, unit in product("mM", "<>", _UNITS):
        dtype = f"{order}{kind}8[{unit}]"
        for name, fill in (("0", 0), ("1", 1), ("nat", -(2**63)), ("large", 2**62 + 1)):
            items = (1, -1, fill, fill, fill, fill ^ 1, 0, 0)
            yield created(
                f"{_slug(f'{order}{kind}8')}-{unit}/{name}",
                ("dtype.units", "dtype.byte-order", "dtype.kinds"),
                f"Elements of {dtype} are 64-bit integers.",
                _typed(dtype, fill),
                b"".join(item.to_bytes(8, "little", signed=True) for item in items),
                needs=("data_type:datetime",),
            )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes_and_text() -> Iterator[Case]:
    for size in (1, 3, 8):
        for kind, fill in (
            ("zeros", bytes(size)),
            ("ones", b"\xff" * size),
            ("plus", (b"\xfb\xef\xbe" * 3)[:size]),
            ("slash", (b"\xff\xfe\xfd" * 3)[:size]),
            ("text", b"abcdefgh"[:size]),
        ):
            other = bytes([fill[0] ^ 1]) + fill[1:]
            data = bytes(range(1, 1 + 2 * size)) + 2 * fill + fill + other + bytes(2 * size)
            for letter in "VS":
                yield created(
                    f"n{letter}{size}/{kind}",
                    ("fill.bytes", "array.fill-value", "dtype.kinds"),
                    "The fill value of bytes is written in base64, with the standard alphabet.",
                    _typed(f"|{letter}{size}", _base64(fill)),
                    data,
                )
    texts = ["ab", "ä\U0001f30d", "", "x", "x", "y", "", ""]
    for order, word in product("<>", ("", "x", "äö")):
        yield created(
            f"{_slug(order)}U2/{len(word)}-{'plain' if word.isascii() else 'unicode'}",
            ("dtype.byte-order", "dtype.kinds"),
            "Text is written as UTF-32 in the byte order of the data type.",
            _typed(f"{order}U2", word),
            b"".join(text.encode("utf-32-le").ljust(8, b"\0") for text in texts),
        )


def _records() -> Iterator[Case]:
    for order in "<>":
        for kind, fields in (
            ("two", [["a", f"{order}i2"], ["b", f"{order}f8"]]),
            ("swapped", [["b", f"{order}f8"], ["a", f"{order}i2"]]),
            ("bytes", [["r", "|u1"], ["g", "|u1"], ["b", "|S3"]]),
            ("shape", [["a", f"{order}i4", [2]], ["b", "|u1"]]),
            ("nested", [["a", f"{order}i2"], ["n", [["x", f"{order}i4"], ["y", "|u1"]]]]),
        ):
            dtype = np.dtype([_field(field) for field in fields])
            little = dtype.newbyteorder("<")
            pattern = np.frombuffer(bytes(range(1, 1 + 8 * dtype.itemsize)), little).copy()
            pattern[2:4] = pattern[0]
            stored = pattern[:1].astype(dtype).tobytes()
            yield created(
                f"record-{_slug(order)}/{kind}",
                ("dtype.fields", "fill.bytes", *(("dtype.nested",) if kind == "nested" else ())),
                "The fill value of a record is written in base64, in the stored byte order.",
                _typed(fields, _base64(stored)),
                pattern.tobytes(),
            )


def _field(field: Any) -> Any:
    name, kind, *shape = field
    inner = kind if isinstance(kind, str) else [_field(item) for item in kind]
    return (name, inner, *map(tuple, shape))


# --- compressors and filters ---


def _codec(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"id": kind, **parameters}


def _compressors() -> Iterator[Case]:
    codecs: dict[str, dict[str, Any]] = {}
    for level in range(10):
        codecs[f"zlib-{level}"] = _codec("zlib", level=level)
        codecs[f"gzip-{level}"] = _codec("gzip", level=level)
        if level:
            codecs[f"bz2-{level}"] = _codec("bz2", level=level)
    for level, checksum in product((0, 1, 3, 9, 22), (False, True)):
        codecs[f"zstd-{level}-{checksum}".lower()] = _codec("zstd", level=level, checksum=checksum)
    codecs["lz4-1"] = _codec("lz4", acceleration=1)
    codecs["lz4-9"] = _codec("lz4", acceleration=9)
    for check in (-1, 0, 1, 4):
        codecs[f"lzma-check-{check % 10}"] = _codec(
            "lzma", format=1, check=check, preset=None, filters=None
        )
    names = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
    for cname, clevel, shuffle in product(names, (0, 5, 9), (-1, 0, 1, 2)):
        codecs[f"blosc-{cname}-{clevel}-{shuffle % 4}"] = _codec(
            "blosc", cname=cname, clevel=clevel, shuffle=shuffle, blocksize=0
        )
    values = np.arange(256) // 64 + 1
    for (name, codec), dtype in product(codecs.items(), ("|u1", "<i4", ">f8")):
        yield created(
            f"compressor/{name}-{_slug(dtype)}",
            ("array.compressor", "array.compressor-id", "chunks.compressed"),
            "Chunks are the output of the compressor with its parameters.",
            array_2(shape=[256], chunks=[128], dtype=dtype, compressor=codec),
            values.astype(dtype.replace(">", "<")).tobytes(),
            needs=(
                f"codec:numcodecs.{codec['id']}",
                # A parameter of later versions of numcodecs.
                *(("codec:numcodecs.zstd.checksum",) if "checksum" in codec else ()),
            ),
        )


def _filters() -> Iterator[Case]:
    values = np.cumsum(np.arange(24)).astype("<i8").reshape(4, 6)
    zlib = _codec("zlib", level=1)
    pairs = [(dtype, dtype) for dtype in ("<i4", ">i4", "<i2", "<u8", "|u1")]
    pairs += [("<i2", "<i4"), (">i2", ">i4"), ("|u1", "<i4"), ("<i4", "<i8")]
    pairs += [(">i4", "<i8"), ("<i2", ">i4"), ("|u1", ">i4")]  # another byte order
    for dtype, target in pairs:
        for compressor in (None, zlib):
            yield created(
                f"filter/delta-{_slug(dtype)}-{_slug(target)}-{'zlib' if compressor else 'plain'}",
                ("array.filters", "array.filter-id", "filters.order"),
                "The filter delta stores differences.",
                array_2(
                    dtype=dtype,
                    filters=[_codec("delta", dtype=dtype, astype=target)],
                    compressor=compressor,
                ),
                (values % 200).astype(dtype.replace(">", "<")).tobytes(),
                needs=("codec:numcodecs.delta",),
            )
    filters = {
        "shuffle": _codec("shuffle", elementsize=4),
        "crc32": _codec("crc32"),
        "adler32": _codec("adler32"),
    }
    delta = _codec("delta", dtype="<i4", astype="<i4")
    for count in (1, 2, 3):
        for order in permutations(filters, count):
            for first, compressor in product((None, delta), (None, zlib)):
                chain = [*([first] if first else []), *(filters[item] for item in order)]
                yield created(
                    f"filter/{'delta-' if first else ''}{'-'.join(order)}"
                    f"{'-zlib' if compressor else ''}",
                    ("filters.order", "array.filters"),
                    "Filters are applied in order, before the compressor.",
                    array_2(filters=chain, compressor=compressor),
                    values.astype("<i4").tobytes(),
                    needs=tuple(f"codec:numcodecs.{item['id']}" for item in chain),
                )
    for name, scale, offset in (("tenth", 10, 0), ("offset", 1, 100), ("both", 4, -8)):
        yield created(
            f"filter/fixedscaleoffset-{name}",
            ("array.filters", "filters.order"),
            "The filter fixedscaleoffset stores scaled integers.",
            array_2(
                dtype="<f8",
                filters=[
                    _codec(
                        "fixedscaleoffset", scale=scale, offset=offset, dtype="<f8", astype="<i4"
                    )
                ],
            ),
            (values.astype("<f8") / scale + offset).tobytes(),
            needs=("codec:numcodecs.fixedscaleoffset",),
        )


# --- layouts ---


def _layouts() -> Iterator[Case]:
    shapes = (
        ((), ()),
        ((5,), (2,)),
        ((12,), (1,)),
        ((5, 4), (2, 3)),
        ((3, 2, 4), (2, 2, 3)),
        ((2, 3, 2, 3), (2, 2, 1, 3)),
    )
    for (shape, lengths), order, separator, dtype, path in product(
        shapes, "CF", (".", "/", OMITTED), ("<i4", ">i2"), ("", "a/b")
    ):
        values = np.arange(1, 1 + int(np.prod(shape)), dtype="<i8").reshape(shape)
        named = {".": "period", "/": "slash"}.get(str(separator), "omitted")
        yield created(
            f"layout/{'x'.join(map(str, shape)) or 'scalar'}-{order.lower()}-{named}-"
            f"{_slug(dtype)}-{path.count('/')}",
            ("array.order-layout", "chunks.key", "chunks.shape", "paths.prefix"),
            f"An array of shape {shape} in chunks of {lengths}, in the order {order}.",
            array_2(
                shape=list(shape),
                chunks=list(lengths),
                order=order,
                dtype=dtype,
                fill_value=-1,
                dimension_separator=separator,
            ),
            values.astype(dtype.replace(">", "<")).tobytes(),
            path,
        )


# --- attributes and nodes ---


def _attributes() -> Iterator[Case]:
    for kind, value in ATTRIBUTES.items():
        large = ("v2.attributes.large-integers",) if kind in LARGE_INTEGERS else ()
        for node, metadata in (("array", array_2()), ("group", {"zarr_format": 2})):
            yield Case(
                f"v2/written/attributes/{kind}-{node}",
                large or ("v2.attributes.any", "v2.attributes.document"),
                "An attribute is written exactly, in .zattrs.",
                "create",
                Accept(Node(documents={".zattrs": {"it": value, "other": [value]}})),
                zarr_format=2,
                document={**metadata, "attributes": {"it": value, "other": [value]}},
            )
        yield Case(
            f"v2/written/attributes/{kind}-kept",
            large or ("v2.attributes.any",),
            "Setting another attribute keeps the value exactly.",
            "update",
            Accept(Node(documents={".zattrs": {"harness": 1, "it": value, "o": [value]}})),
            {
                ".zarray": document(array_2()),
                ".zattrs": document({"it": value, "o": [value]}),
            },
            zarr_format=2,
        )


def _nodes() -> Iterator[Case]:
    there = {
        ".zgroup": document({"zarr_format": 2}),
        "a/.zarray": document(array_2(shape=[2], chunks=[2])),
        "a/0": b"\1\0\0\0\2\0\0\0",
        "ab/.zarray": document(array_2(shape=[2], chunks=[2])),
        "ab/.zattrs": document({"kept": 0.1}),
        "ab/0": b"\3\0\0\0\4\0\0\0",
        "g/.zgroup": document({"zarr_format": 2}),
    }
    data = np.arange(1, 25, dtype="<i4").tobytes()
    for kind, path in (("beside", "b"), ("below-a-group", "g/a"), ("deep", "g/h/i/a")):
        parents = {
            f"{'/'.join(path.split('/')[:n])}/.zgroup": {"zarr_format": 2}
            for n in range(1, path.count("/") + 1)
        }
        yield Case(
            f"v2/written/nodes/{kind}",
            ("v2.groups.document", "v2.groups.array-parents"),
            "Creating a node keeps all other nodes, and creates the groups above it.",
            "create",
            Accept(Node(stored=there, documents=parents, values=Values(data))),
            there,
            path,
            2,
            document=array_2(),
        )
    for kind, path, metadata in (
        ("array", "a/b", array_2()),
        ("group", "a/b", {"zarr_format": 2}),
        ("deep-array", "a/b/c", array_2()),
    ):
        yield Case(
            f"v2/written/nodes/below-an-array-{kind}",
            ("v2.groups.array-parents",),
            "A node cannot be created below an array, which cannot be a group too.",
            "create",
            Reject("other", "metadata"),
            there,
            path,
            2,
            document=metadata,
        )
