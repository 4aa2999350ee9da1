"""Small hierarchies with known elements, from which the table of portability is measured.

``probes`` has each choice of :data:`CHOICES` alone and in pairs, ``hierarchies`` combines choices at
random.  zarr-core writes all of them; what it would not write, such as short-hand names, is
changed in the metadata documents afterwards.
"""

from __future__ import annotations

import itertools
import json
import random
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_conformance.adapters.adapter import as_bytes
from zarr_core import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPE, CHUNKS, SHARDS = (6, 8), (3, 4), (6, 4)


@dataclass
class Node:
    """A node of a probe: its format, and the elements of an array as the protocol encodes them."""

    zarr_format: int
    values: bytes | None = None
    kind: str = ""


@dataclass
class Probe:
    """A hierarchy: the content of its store, its nodes by path, and where it is from."""

    store: dict[str, bytes] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    origin: str = ""


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    """Return the definition of a codec."""
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


PLAIN = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
SMALL = ["int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn"]
EIGHT = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2"]
EIGHT += ["float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16"]
SMALL += ["float6_e3m2fn"]
COMPLEX = ["complex_bfloat16", "complex_float16", "complex_float32", "complex_float64"]
TIMES = [
    codec(f"numpy.{kind}64", unit=unit, scale_factor=1)
    for kind in ("datetime", "timedelta")
    for unit in ("s", "ns", "D", "ms", "us", "m", "h", "W", "M", "Y", "ps", "fs", "as", "generic")
]
STRUCT = codec("struct", fields=[{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "float64"}])  # fmt: skip
STRUCTURED = codec("structured", fields=[["a", "int32"], ["b", "float64"]])
VARIABLE = ["string", "bytes", "variable_length_bytes"]
FIXED = [
    codec("fixed_length_utf32", length_bytes=16),
    codec("null_terminated_bytes", length_bytes=5),
    codec("raw_bytes", length_bytes=5),
]
RAW = ["r8", "r16", "r24"]

DEFAULT = "default"
_INDEX = [codec("bytes", endian="little"), codec("crc32c")]

# For each part of an array of version 3, its values; the first is the default.
CHOICES: dict[str, list[Any]] = {
    "data_type": [
        "int32",
        *(it for it in PLAIN if it != "int32"),
        *SMALL,
        *EIGHT,
        *COMPLEX,
        *TIMES,
        STRUCT,
        STRUCTURED,
        *VARIABLE,
        *FIXED,
        *RAW,
    ],
    "fill": [
        DEFAULT,
        "other",
        "NaN",
        "Infinity",
        "-Infinity",
        "hexadecimal",
        "float",
        "large",
        "integers",
    ],
    "filters": [
        [],
        [codec("transpose", order=[1, 0])],
        [codec("transpose", order=[1, 0]), codec("transpose", order=[1, 0])],
        [codec("numcodecs.delta", dtype="<i4")],
        [codec("numcodecs.bitround", keepbits=23)],
        [codec("bitround", keepbits=23)],
        [codec("numcodecs.fixedscaleoffset", offset=0, scale=1, dtype="<f8", astype="<f8")],
        [codec("scale_offset", offset=1, scale=2)],
        [codec("cast_value", data_type="int64")],
        [codec("reshape", shape=[[0, 1]])],
    ],
    "serializer": [
        "auto",
        codec("bytes", endian="big"),
        codec("packbits"),
        codec("zfp", mode="reversible"),
        codec("numcodecs.pcodec", level=8),
        codec("numcodecs.zfpy", mode=4, rate=-1, tolerance=-1, precision=-1),
    ],
    "compressors": [
        [],
        [codec("gzip", level=5)],
        [codec("zstd", level=3, checksum=False)],
        [codec("zstd", level=3, checksum=True)],
        [codec("zstd", level=-3, checksum=False)],
        *(
            [codec("blosc", cname=cname, clevel=5, shuffle="shuffle", typesize=4, blocksize=0)]
            for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy")
        ),
        [codec("blosc", cname="lz4", clevel=5, shuffle="bitshuffle", typesize=4, blocksize=0)],
        [codec("blosc", cname="lz4", clevel=5, shuffle="noshuffle", blocksize=0)],
        [codec("crc32c")],
        [codec("gzip", level=1), codec("crc32c")],
        [codec("numcodecs.zlib", level=1)],
        [codec("numcodecs.bz2", level=1)],
        [codec("numcodecs.lz4", acceleration=1)],
        [codec("numcodecs.lzma", format=1, check=-1, preset=1)],
        [codec("numcodecs.zstd", level=1)],
        [codec("numcodecs.gzip", level=1)],
        [codec("numcodecs.blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0)],
        [codec("numcodecs.shuffle", elementsize=4), codec("gzip", level=1)],
        [codec("numcodecs.fletcher32")],
        [codec("numcodecs.crc32")],
        [codec("numcodecs.adler32")],
        [codec("crc32")],
        [codec("adler32")],
        [codec("fletcher32")],
        [codec("shuffle", elementsize=4), codec("zstd", level=3, checksum=False)],
        [codec("bz2", level=1)],
        [codec("zlib", level=1)],
        [codec("lz4", acceleration=1)],
    ],
    "keys": [
        DEFAULT,
        codec("default", separator="."),
        codec("v2", separator="."),
        codec("v2", separator="/"),
        codec("suffix", **{"base-encoding": {"name": "default"}, "suffix": ".x"}),
    ],
    "grid": ["regular", "rectilinear", "lengths", "run lengths", "zero", "scalar"],
    "shards": [None, "end", "start", "nested", "compressed", "filtered", "plain index"],
    "form": [
        None,
        "no attributes",
        "codecs as strings",
        "data type as object",
        "key encoding as string",
        "key encoding without configuration",
        "must_understand=true",
        "must_understand=false",
        "unknown codec, must_understand=false",
        "unknown codec",
        "unknown transformer",
        "unknown transformer, must_understand=false",
        "empty transformers",
        "unknown field",
        "unknown field, must_understand=false",
        "names",
        "names with null",
        "names all null",
        "names repeated",
        "names empty",
        "names null",
        "zstd without checksum",
        "no endian",
        "empty configuration",
        "no typesize",
        "attribute NaN",
        "unknown data type",
        "unknown grid",
        "unknown key encoding",
        "no index location",
    ],
}

CHOICES_2: dict[str, list[Any]] = {
    "dtype": [
        "<i4",
        *("|b1", "|i1", "<i2", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"),
        *(">i4", ">f8", ">u2", ">f4", ">c8", "|S5", "<U4", ">U4", "|V5"),
        *("<M8[s]", "<M8[ns]", "<m8[ns]", "<m8[s]", "object"),
        *(f"<{kind}8[{unit}]" for kind in "Mm" for unit in ("Y", "M", "W", "D", "h", "m", "ms", "us", "ps")),
        [("a", "<i4"), ("b", "<f8")],
        [("a", ">i4"), ("b", "|S4")],
    ],
    "fill": [DEFAULT, "other", "null", "NaN", "Infinity", "-Infinity", "large"],
    "filters": [
        [],
        [{"id": "delta", "dtype": "<i4"}],
        [{"id": "delta", "dtype": "<i4"}, {"id": "delta", "dtype": "<i4"}],
        [{"id": "shuffle", "elementsize": 4}],
        [{"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<f8", "astype": "<f8"}],
        [{"id": "bitround", "keepbits": 23}],
        [{"id": "packbits"}],
        [{"id": "fletcher32"}],
        [{"id": "crc32"}],
        [{"id": "quantize", "digits": 9, "dtype": "<f8", "astype": "<f8"}],
    ],
    "compressor": [
        None,
        {"id": "zlib", "level": 1},
        {"id": "gzip", "level": 1},
        {"id": "zstd", "level": 1},
        {"id": "zstd", "level": 1, "checksum": True},
        {"id": "bz2", "level": 1},
        {"id": "lz4", "acceleration": 1},
        {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None},
        *(
            {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0}
            for cname, shuffle in [("lz4", 1), ("lz4", 0), ("lz4", 2), ("zstd", 1), ("lz4hc", 1), ("blosclz", 1), ("zlib", 1), ("snappy", 1), ("zstd", -1)]
        ),
        {"id": "crc32c"},
    ],
    "separator": [".", "/"],
    "order": ["C", "F"],
    "grid": ["regular", "zero", "scalar"],
    "form": [None, "no separator", "empty filters", "unknown field", "unknown compressor", "unknown filter", "attribute NaN"],
}  # fmt: skip


def _values(dtype: Any, shape: tuple[int, ...], rng: random.Random) -> Any:
    """Return elements of a data type; their bits are random only where all bits are values."""
    count = int(np.prod(shape))
    kind = np.dtype(dtype).kind if not isinstance(dtype, str) or dtype != "object" else "O"
    numbers = [rng.randrange(0, 100) for _ in range(count)]
    if kind == "O" or type(np.dtype(dtype)).__name__ == "StringDType":
        flat = np.empty(count, object)
        flat[:] = [f"é{it}"[: 1 + it % 3] for it in numbers]
        return flat.reshape(shape)
    if kind == "b":
        return np.array(numbers).reshape(shape) % 2 == 1
    if kind in "iufcMm":
        return np.array(numbers, "i8").reshape(shape).astype(dtype)
    if kind == "S":
        return np.array([f"{it}" for it in numbers]).astype(dtype).reshape(shape)
    if kind == "U":
        return np.array([f"é{it}" for it in numbers]).astype(dtype).reshape(shape)
    data = np.array(numbers, "u1").repeat(np.dtype(dtype).itemsize)
    return data.view(dtype).reshape(shape)


def write_array(
    probe: Probe, path: str, zarr_format: int, choice: dict[str, Any], seed: str
) -> bool:
    """Add an array with these choices to a probe; False if they contradict each other."""
    rng = random.Random(seed)
    store = MemoryStore()
    write = _write_3 if zarr_format == 3 else _write_2
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            elements = write(store, path, choice, rng)
    except (zarr_core.errors.ZarrError, TypeError, ValueError, OverflowError, ArithmeticError):
        return False
    stored = {key: bytes(store.get(key) or b"") for key in store.list()}
    if not _change(stored, path, choice, zarr_format):
        return False
    data, kind = as_bytes(elements)
    probe.store |= {key: it for key, it in stored.items() if key not in probe.store}
    probe.nodes[path] = Node(zarr_format, data, kind)
    return True


def _elements_for(array: Any, choice: dict[str, Any], rng: random.Random) -> Any:
    name = choice.get("data_type", choice.get("dtype"))
    label = name if isinstance(name, str) else name["name"] if isinstance(name, dict) else ""
    if label in ("bytes", "variable_length_bytes"):
        flat = np.empty(array.shape, object)
        for at in np.ndindex(array.shape):
            flat[at] = bytes([rng.randrange(256) for _ in range(rng.randrange(4))])
        return flat
    if label in SMALL or label.startswith(("float", "complex_")) or label == "bfloat16":
        some = np.array([rng.randrange(0, 2) for _ in range(array.size)]).reshape(array.shape)
        return some.astype(np.float32).astype(array.dtype) if label not in ("complex_float4_e2m1fn",) else some.astype(array.dtype)  # fmt: skip
    return _values("object" if array.dtype.kind == "O" else array.dtype, array.shape, rng)


def _write_3(store: MemoryStore, path: str, choice: dict[str, Any], rng: random.Random) -> Any:
    shape: tuple[int, ...] = SHAPE
    chunks: Any = CHUNKS
    if choice["grid"] == "rectilinear":
        chunks = [[1, 5], [3, 3, 2]]
    elif choice["grid"] == "lengths":
        chunks = [[1, 5], [3, 4, 1]]
    elif choice["grid"] == "run lengths":
        chunks = [[2, 2, 2], [8]]
    elif choice["grid"] == "zero":
        shape = (0, 8)
    elif choice["grid"] == "scalar":
        shape, chunks = (), ()
    filters = json.loads(json.dumps(choice["filters"]))
    compressors = json.loads(json.dumps(choice["compressors"]))
    serializer = choice["serializer"]
    shards: Any = None
    how = choice["shards"]
    if how in ("end", "start"):
        shards = {"shape": SHARDS, "index_location": how}
    elif how is not None:
        inner_chain = [*filters, codec("bytes", endian="little") if serializer == "auto" else serializer, *compressors]  # fmt: skip
        inner = {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": list(CHUNKS), "codecs": inner_chain,
                "index_codecs": _INDEX[:1] if how == "plain index" else _INDEX,
                "index_location": "end",
            },
        }  # fmt: skip
        filters, compressors, chunks = [], [], SHARDS
        if how == "nested":
            outer = json.loads(json.dumps(inner))
            outer["configuration"] |= {"chunk_shape": list(SHARDS), "codecs": [inner]}
            serializer, chunks = outer, (6, 8)
        else:
            serializer = inner
        if how == "compressed":
            compressors = [codec("gzip", level=1)]
        if how == "filtered":
            filters = [codec("transpose", order=[1, 0])]
            serializer["configuration"]["chunk_shape"] = list(reversed(CHUNKS))
    if choice["grid"] == "scalar" and (shards is not None or how is not None):
        raise ValueError("no shards of scalars")
    keys = choice["keys"]
    array = zarr_core.create_array(
        store, path=path, shape=shape, chunks=chunks, shards=shards, dtype=choice["data_type"],
        filters=filters, serializer=serializer, compressors=compressors, zarr_format=3,
        chunk_key_encoding=None if keys == DEFAULT else keys, attributes={"title": "x"},
        **_fill(choice["fill"], choice["data_type"]),
    )  # fmt: skip
    return _fill_elements(array, choice, rng)


def _fill_elements(array: Any, choice: dict[str, Any], rng: random.Random) -> Any:
    """Write a part of the elements, so that some chunks are missing; return all elements.

    Missing chunks of arrays without a fill value have undefined elements.
    """
    elements = _elements_for(array, choice, rng)
    if array.ndim == 2 and choice["fill"] != "null":
        array[:3, :] = elements[:3, :]
    else:
        array[...] = elements
    return np.asarray(array[...])


def _fill(how: str, data_type: Any) -> dict[str, Any]:
    """Return the argument ``fill_value``; contradictions become errors."""
    name = data_type if isinstance(data_type, str) else "object"
    if how in (DEFAULT, "hexadecimal", "float", "integers"):
        return {}
    if how == "null":
        return {"fill_value": None}
    if how == "large":
        if not name.endswith(("int64", "i8", "u8")):
            raise ValueError(name)
        return {"fill_value": 2**62 + 1}
    if how in ("NaN", "Infinity", "-Infinity"):
        if not any(it in name for it in ("float", "complex", "<f", "<c", ">f", ">c")):
            raise ValueError(name)
        number = float(how.replace("Infinity", "inf"))
        return {"fill_value": complex(number, 1) if "c" in name.replace("b", "") and "complex" in name else number}  # fmt: skip
    if isinstance(data_type, dict):
        data_type = data_type["name"]
    if not isinstance(data_type, str):
        return (
            {"fill_value": (7, 2.5)}
            if data_type == [("a", "<i4"), ("b", "<f8")]
            else _no(data_type)
        )
    if data_type in ("struct", "structured"):
        return {"fill_value": (7, 2.5)}
    if data_type in ("string", "object", "fixed_length_utf32") or data_type[1:2] == "U":
        return {"fill_value": "ab"}
    if data_type in ("bytes", "variable_length_bytes", "null_terminated_bytes", "raw_bytes") or data_type[1:2] in "SV":  # fmt: skip
        return {"fill_value": b"abcde"}
    if data_type == "bool" or data_type == "|b1":
        return {"fill_value": True}
    if data_type.startswith("r"):
        return {"fill_value": bytes(range(1, 1 + int(data_type[1:]) // 8))}
    return {"fill_value": 1}


def _no(what: Any) -> dict[str, Any]:
    raise ValueError(what)


def _write_2(store: MemoryStore, path: str, choice: dict[str, Any], rng: random.Random) -> Any:
    shape: tuple[int, ...] = {"zero": (0, 8), "scalar": ()}.get(choice["grid"], SHAPE)
    dtype = choice["dtype"]
    filters = choice["filters"]
    given: Any = np.dtype(dtype) if not isinstance(dtype, str) or dtype != "object" else "string"
    array = zarr_core.create_array(
        store, path=path, shape=shape, chunks=CHUNKS if shape else (), dtype=given, zarr_format=2,
        filters=[*filters] if dtype != "object" else "auto", compressors=choice["compressor"],
        order=choice["order"], attributes={"title": "x"},
        chunk_key_encoding={"name": "v2", "configuration": {"separator": choice["separator"]}},
        **_fill(choice["fill"], dtype),
    )  # fmt: skip
    return _fill_elements(array, choice, rng)


def _change(stored: dict[str, bytes], path: str, choice: dict[str, Any], zarr_format: int) -> bool:
    """Apply the form that was chosen to the metadata document; False if it is not applicable."""
    form = choice["form"]
    key = f"{path}/" if path else ""
    key += "zarr.json" if zarr_format == 3 else ".zarray"
    document = json.loads(stored[key])
    change = _change_3 if zarr_format == 3 else _change_2
    if zarr_format == 3:
        if choice["grid"] == "run lengths":
            if document["chunk_grid"]["name"] != "rectilinear":
                return False
            document["chunk_grid"]["configuration"]["chunk_shapes"] = [[[2, 3]], 8]
        if choice["fill"] == "float":
            if not isinstance(document["fill_value"], int | float) or "float" not in str(document["data_type"]):  # fmt: skip
                return False
            document["fill_value"] = float(document["fill_value"])
        if choice["fill"] == "integers":
            if not isinstance(document["fill_value"], list) or "complex" not in str(document["data_type"]):  # fmt: skip
                return False
            document["fill_value"] = [0, 0]
        if choice["fill"] == "hexadecimal":
            sizes = {"float16": 4, "float32": 8, "float64": 16, "bfloat16": 4, "float8_e4m3": 2}
            if str(document["data_type"]) not in sizes:
                return False
            document["fill_value"] = "0x" + "0" * sizes[document["data_type"]]
    if form is not None:
        if form == "attribute NaN":
            if zarr_format == 3:
                document["attributes"]["missing"] = float("nan")
            else:
                attributes = f"{path}/.zattrs".lstrip("/")
                stored[attributes] = b'{"missing": NaN}'
        elif not change(document, form):
            return False
    stored[key] = json.dumps(document).encode()
    return True


_UNKNOWN = {"name": "acme.unknown", "configuration": {"a": 1}}


def _change_3(document: dict[str, Any], form: str) -> bool:
    codecs = document["codecs"]
    keys = document["chunk_key_encoding"]
    optional = {**_UNKNOWN, "must_understand": False}
    last = codecs[-1] if isinstance(codecs[-1], dict) else {"name": codecs[-1]}
    settings = last.get("configuration", {})
    ndim = len(document["shape"])
    match form:
        case "no attributes":
            document.pop("attributes", None)
        case "codecs as strings":
            if settings:
                return False
            codecs[-1] = last["name"]
        case "data type as object":
            if not isinstance(document["data_type"], str):
                return False
            document["data_type"] = {"name": document["data_type"]}
        case "key encoding as string" | "key encoding without configuration":
            if keys["name"] != "default" or keys["configuration"]["separator"] != "/":
                return False
            document["chunk_key_encoding"] = (
                "default" if form.endswith("string") else {"name": "default"}
            )
        case "must_understand=true" | "must_understand=false":
            codecs[-1] = {**last, "must_understand": form.endswith("true")}
        case "unknown codec, must_understand=false":
            codecs.append(optional)
        case "unknown codec":
            codecs.append(_UNKNOWN)
        case "unknown transformer":
            document["storage_transformers"] = [_UNKNOWN]
        case "unknown transformer, must_understand=false":
            document["storage_transformers"] = [optional]
        case "empty transformers":
            document["storage_transformers"] = []
        case "unknown field":
            document["acme.field"] = {"a": 1}
        case "unknown field, must_understand=false":
            document["acme.field"] = {"must_understand": False}
        case "unknown data type":
            document["data_type"] = "acme.unknown"
        case "unknown grid":
            document["chunk_grid"]["name"] = "acme.unknown"
        case "unknown key encoding":
            document["chunk_key_encoding"] = _UNKNOWN
        case "names":
            document["dimension_names"] = ["y", "x"][:ndim]
        case "names with null":
            document["dimension_names"] = [None, "x"][:ndim]
        case "names all null":
            document["dimension_names"] = [None, None][:ndim]
        case "names repeated":
            document["dimension_names"] = ["x", "x"][:ndim]
        case "names empty":
            document["dimension_names"] = ["", "x"][:ndim]
        case "names null":
            document["dimension_names"] = None
        case "zstd without checksum":
            if last["name"] != "zstd" or settings.get("checksum"):
                return False
            settings.pop("checksum", None)
        case "no endian":
            found = [it for it in codecs if isinstance(it, dict) and it["name"] == "bytes"]
            if not found or ("configuration" in found[0] and document["data_type"] not in ("int8", "uint8", "bool")):  # fmt: skip
                return False
            found[0].pop("configuration", None)
        case "empty configuration":
            if settings:
                return False
            codecs[-1] = {**last, "configuration": {}}
        case "no typesize":
            if last["name"] != "blosc" or settings["shuffle"] != "noshuffle":
                return False
            settings.pop("typesize", None)
        case "no index location":
            if codecs[0]["name"] != "sharding_indexed" or codecs[0]["configuration"]["index_location"] != "end":  # fmt: skip
                return False
            codecs[0]["configuration"].pop("index_location")
    return True


def _change_2(document: dict[str, Any], form: str) -> bool:
    match form:
        case "no separator":
            if document.get("dimension_separator", ".") != ".":
                return False
            document.pop("dimension_separator", None)
        case "empty filters":
            if document["filters"]:
                return False
            document["filters"] = []
        case "unknown field":
            document["acme"] = 1
        case "unknown compressor":
            document["compressor"] = {"id": "acme.unknown"}
        case "unknown filter":
            document["filters"] = [{"id": "acme.unknown"}]
    return True


def default_of(choices: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the default choice."""
    return {part: values[0] for part, values in choices.items()}


# Pairs of parts whose choices libraries treat differently in combination.
PAIRS_3 = [
    *(("data_type", it) for it in ("fill", "filters", "serializer", "compressors", "shards", "form")),
    *(("shards", it) for it in ("filters", "serializer", "compressors", "keys", "form")),
    *(("grid", it) for it in ("filters", "serializer", "compressors", "keys", "data_type", "form")),
    *(("form", it) for it in ("compressors", "filters", "serializer", "keys")),
    *(("filters", it) for it in ("serializer", "compressors")),
    *(("keys", it) for it in ("data_type",)),
    ("serializer", "compressors"),
    ("fill", "form"),
]  # fmt: skip
PAIRS_2 = [
    *(("dtype", it) for it in ("fill", "filters", "compressor", "order", "form", "grid")),
    *(("filters", it) for it in ("compressor", "order", "form", "fill")),
    *(("grid", it) for it in ("compressor", "separator", "order", "form", "fill")),
    ("compressor", "form"),
]

NAMES = [
    "a", "b1", "data", "with space", "naïve", "100%", "q?x", "a#b", "a+b", "a:b", ".hidden",
    "__x", "0", "c", "a&b", "a'b", "a(b)", "zürich",
]  # fmt: skip


def probes() -> Iterator[Probe]:
    """Yield probes: each choice alone, pairs of choices, names, groups and consolidated metadata."""
    for version, choices, pairs in ((3, CHOICES, PAIRS_3), (2, CHOICES_2, PAIRS_2)):
        base = default_of(choices)
        done = set()
        for part, other in [(it, it) for it in choices] + pairs:
            for one, two in itertools.product(choices[part], choices[other]):
                choice = base | ({part: one} if part == other else {part: one, other: two})
                if part == other and one is not two:
                    continue
                mark = json.dumps(choice, sort_keys=True, default=str)
                probe = Probe(origin=mark)
                if mark not in done and write_array(probe, "a", version, choice, mark):
                    done.add(mark)
                    add_group(probe, "", version, False, None)
                    yield probe
                root = Probe(origin=f"root {mark}")
                if part == other and write_array(root, "", version, choice, mark):
                    yield root
        for name in NAMES:
            probe = Probe(origin=f"name {name}")
            if write_array(probe, name, version, base, name):
                yield probe
        for part in choices:
            for one in choices[part]:
                probe = Probe(origin=f"consolidated {part} {one}")
                if write_array(probe, "a", version, base | {part: one}, str(one)):
                    add_group(probe, "", version, True, None)
                    del probe.nodes["a"]
                    yield probe
    for form in GROUP_FORMS:
        probe = Probe(origin=f"group {form}")
        add_group(probe, "", 3, False, form)
        yield probe


GROUP_FORMS = [None, "no attributes", "unknown field", "unknown field, must_understand=false", "null", "attribute NaN"]  # fmt: skip


def add_group(probe: Probe, path: str, version: int, consolidated: bool, form: str | None) -> None:
    """Add the documents of a group, with consolidated metadata of the nodes below it if asked."""
    prefix = f"{path}/" if path else ""
    if version == 2:
        probe.store[f"{prefix}.zgroup"] = b'{"zarr_format": 2}'
        probe.store[f"{prefix}.zattrs"] = b'{"title": "x"}'
        if consolidated:
            entries = {
                key[len(prefix) :]: json.loads(value)
                for key, value in probe.store.items()
                if key.startswith(prefix) and key.endswith((".zarray", ".zattrs", ".zgroup"))
            }
            document = {"zarr_consolidated_format": 1, "metadata": entries}
            probe.store[f"{prefix}.zmetadata"] = json.dumps(document).encode()
    else:
        group: dict[str, Any] = {
            "zarr_format": 3,
            "node_type": "group",
            "attributes": {"title": "x"},
        }
        if form == "no attributes":
            del group["attributes"]
        elif form == "attribute NaN":
            group["attributes"]["missing"] = float("nan")
        elif form == "null":
            group["consolidated_metadata"] = None
        elif form is not None:
            group["acme.field"] = {"must_understand": False} if "=" in form else {"a": 1}
        if consolidated:
            entries = {
                key[len(prefix) : -len("/zarr.json")]: json.loads(value)
                for key, value in probe.store.items()
                if key.startswith(prefix)
                and key.endswith("/zarr.json")
                and key != f"{prefix}zarr.json"
            }
            group["consolidated_metadata"] = {
                "kind": "inline", "must_understand": False, "metadata": entries,
            }  # fmt: skip
        probe.store[f"{prefix}zarr.json"] = json.dumps(group).encode()
    probe.nodes[path] = Node(version)


def random_choice(rng: random.Random, choices: dict[str, list[Any]]) -> dict[str, Any]:
    """Return a choice with some parts other than the default."""
    chosen = default_of(choices)
    for part in rng.sample(list(choices), rng.choice((0, 1, 1, 2, 2, 3, 4))):
        chosen[part] = rng.choice(choices[part])
    return chosen


def hierarchies(count: int, seed: int) -> Iterator[Probe]:
    """Yield random hierarchies of 1 to 5 nodes."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        version = rng.choice((3, 3, 2))
        choices = CHOICES if version == 3 else CHOICES_2
        probe = Probe(origin=f"hierarchy {seed}/{number}")
        if rng.random() < 0.2:
            while not write_array(probe, "", version, random_choice(rng, choices), f"{number}"):
                pass
            yield probe
            continue
        groups = {""}
        for _ in range(rng.randrange(1, 4)):
            parent = rng.choice(sorted(groups))
            names = [rng.choice(NAMES[:3]) if rng.random() < 0.8 else rng.choice(NAMES)]
            if rng.random() < 0.3:
                group = "/".join(filter(None, (parent, "g" + str(len(groups)))))
                groups.add(group)
                parent = group
            path = "/".join(filter(None, (parent, *names)))
            if path not in probe.nodes:
                for _ in range(50):  # some choices contradict each other, some names are invalid
                    if write_array(
                        probe, path, version, random_choice(rng, choices), f"{number} {path}"
                    ):
                        break
        for key in list(probe.store):  # implicit parents that zarr-core wrote
            if key.endswith(("zarr.json", ".zgroup")) and key.rpartition("/")[0] in groups:
                del probe.store[key]
        for group in sorted(groups, key=lambda it: (-len(it), it)):
            form = rng.choice(GROUP_FORMS) if rng.random() < 0.15 else None
            add_group(probe, group, version, group == "" and rng.random() < 0.25, form)
        yield probe
