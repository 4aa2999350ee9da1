"""The registered data type struct and its earlier form, structured."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import (
    Accept,
    Case,
    Either,
    Node,
    Reject,
    Values,
    refused_fill_value,
)
from zarr_conformance.corpus.encode import document, gzip, json_text
from zarr_conformance.corpus.ext_cases import BYTES, GZIP, extension
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

_BIG = extension("bytes", endian="big")
_NO_ENDIAN = {"name": "bytes"}
_POINT = {"x": "float32", "y": "float32"}
_ROW = {"id": "int32", "flags": "uint8", "value": "float64"}
_ROWS = [(1, 2, 0.5), (-7, 255, -1e300), (2**31 - 1, 0, 0.0)]


def fields(**kinds: Any) -> dict[str, Any]:
    """Return the data type struct with these fields."""
    return extension("struct", fields=[{"name": key, "data_type": it} for key, it in kinds.items()])


def _case(
    what: str,
    clauses: tuple[str, ...],
    summary: str,
    expect: Expectation,
    data_type: Any,
    fill_value: Any,
    stored: bytes | None = None,
    length: int = 3,
    **members: Any,
) -> Case:
    kind = what.split("/")[0]
    plain = {"shape": [length], "chunk_grid": regular(length), "codecs": [BYTES]}
    metadata = array(data_type=data_type, fill_value=fill_value, **(plain | members))
    return Case(
        f"ext-data-types/{what}",
        tuple(f"ext-data-types.{it}" for it in clauses),
        summary,
        "open" if isinstance(expect, Reject) or expect.node.values is None else "read",
        expect,
        {"zarr.json": document(metadata), **({} if stored is None else {"c/0": stored})},
        needs=(f"data_type:{kind.replace('-', '_')}",),
    )


def _values(data: bytes) -> Accept:
    return Accept(Node(values=Values(data)))


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _structs()
    yield from _struct_fills()
    yield from _invalid_structs()
    yield from _structured()


def _structs() -> Iterator[Case]:
    zero = {"id": 0, "flags": 0, "value": 0.0}
    always: tuple[str, ...] = (
        "struct.fields",
        "struct.field",
        "struct.names",
        "struct.order",
        "struct.packed",
    )
    always += ("struct.variable", "struct.no-vlen")
    little = b"".join(struct.pack("<iBd", *it) for it in _ROWS)
    big = b"".join(struct.pack(">iBd", *it) for it in _ROWS)
    row = fields(**_ROW)
    for what, stored, codecs in (
        ("little-endian", little, [BYTES]),
        ("big-endian", big, [_BIG]),
        ("gzip", gzip(little), [BYTES, GZIP]),
    ):
        yield _case(
            f"struct/{what}",
            (*always, "struct.endian", "struct.data-type")
            + (("struct.compressors",) if what == "gzip" else ()),
            "Thirteen bytes per element, the example of the specification.",
            _values(little),
            row,
            zero,
            stored,
            codecs=codecs,
        )
    metadata = array(
        shape=[3], chunk_grid=regular(3), data_type=row, fill_value=zero, codecs=[BYTES]
    )
    yield Case(
        "ext-data-types/struct/created",
        tuple(f"ext-data-types.{it}" for it in (*always, "struct.fill")),
        "The stored bytes are exact; the order of the fields is preserved.",
        "create",
        Accept(
            Node(
                values=Values(little),
                stored={"c/0": little},
                documents={"zarr.json": {"data_type": row}},
            )
        ),
        needs=("data_type:struct",),
        document=metadata,
    )
    backwards = fields(**dict(reversed(_ROW.items())))
    turned = b"".join(struct.pack("<dBi", *reversed(it)) for it in _ROWS)
    yield _case(
        "struct/other-order",
        ("struct.order", "struct.packed", "struct.fill"),
        "Fields are stored in the order of the metadata, not of the fill value.",
        _values(turned),
        backwards,
        zero,
        turned,
    )
    octets = fields(a="uint8", b="int8", c="bool")
    yield _case(
        "struct/single-bytes",
        ("struct.endian-omitted", "struct.packed"),
        "Fields of one byte need no byte order.",
        _values(b"\1\xff\1\2\x80\0\3\x7f\1"),
        octets,
        {"a": 0, "b": 0, "c": False},
        b"\1\xff\1\2\x80\0\3\x7f\1",
        codecs=[_NO_ENDIAN],
    )
    nested = fields(point=fields(**_POINT), value="float64")
    rows = [(1.0, 2.0, 3.5), (0.0, -1.0, 1e10), (0.5, 0.25, 0.0)]
    small = b"".join(struct.pack("<ffd", *it) for it in rows)
    for what, codec, form in (("little-endian", BYTES, "<ffd"), ("big-endian", _BIG, ">ffd")):
        yield _case(
            f"struct/nested-{what}",
            ("struct.nested", "struct.packed", "struct.endian"),
            "A nested struct is stored as a unit, the example of the specification.",
            _values(small),
            nested,
            {"point": {"x": 0.0, "y": 0.0}, "value": 0.0},
            b"".join(struct.pack(form, *it) for it in rows),
            codecs=[codec],
        )
    deep: Any = "int16"
    fill: Any = 258
    for _ in range(5):
        deep, fill = fields(a=deep), {"a": fill}
    yield _case(
        "struct/nested-five-times",
        ("struct.nested", "struct.names", "struct.fill"),
        "Field names of a nested struct may repeat those of the outer struct.",
        _values(b"\2\1" * 3),
        deep,
        fill,
    )
    times = fields(at=extension("numpy.datetime64", unit="s", scale_factor=1), value="float32")
    stamped = b"".join(struct.pack("<qf", n, n / 2) for n in (0, 1, -(2**63)))
    yield _case(
        "struct/field-with-configuration",
        ("struct.data-type", "struct.packed"),
        "A field may have a data type with a configuration.",
        _values(stamped),
        times,
        {"at": "NaT", "value": 0.0},
        stamped,
    )
    core: dict[str, tuple[str, Any, bytes]] = {
        "complex64": ("<ff", [0.0, 0.0], struct.pack("<ff", 1.5, -2.0)),
        "r24": ("3s", [0, 0, 0], b"\1\2\3"),
        "float16": ("<e", 0.0, struct.pack("<e", 1.5)),
        "uint64": ("<Q", 0, struct.pack("<Q", 2**63)),
    }
    for name, (_, nothing, one) in core.items():
        yield _case(
            f"struct/field-{name}",
            ("struct.data-type", "struct.packed"),
            f"A field of {name} after a field of one byte.",
            _values((b"\7" + one) * 3),
            fields(a="uint8", b=name),
            {"a": 0, "b": nothing},
            (b"\7" + one) * 3,
        )
    for what, length in (("short", 38), ("long", 40)):
        damaged = _case(
            f"struct/damage-{what}",
            ("struct.packed",),
            "A chunk with a wrong size is an error.",
            _values(b""),
            row,
            zero,
            bytes(length),
        )
        yield Case(
            damaged.id,
            damaged.clauses,
            damaged.summary,
            "read",
            Reject("chunk"),
            damaged.store,
            needs=damaged.needs,
        )


def _struct_fills() -> Iterator[Case]:
    point = fields(**_POINT)
    value: Any
    for what, value, pair in (
        ("numbers", {"x": 1.25, "y": 4.5}, (1.25, 4.5)),
        ("words", {"x": "Infinity", "y": "-Infinity"}, (np.inf, -np.inf)),
        ("digits", {"x": "0x7fc00000", "y": 0}, (np.nan, 0)),
        ("other-order", {"y": 4.5, "x": 1.25}, (1.25, 4.5)),
    ):
        yield _case(
            f"struct/fill-{what}",
            ("struct.fill",),
            "Each field has its own fill value.",
            _values(struct.pack("<ff", *pair) * 3),
            point,
            value,
        )
    for what, value in (
        ("null", None),
        ("number", 0),
        ("list", [0.0, 0.0]),
        ("empty", {}),
        ("field-left-out", {"x": 0.0}),
        ("field-null", {"x": 0.0, "y": None}),
        ("field-text", {"x": 0.0, "y": "a"}),
        ("further-field", {"x": 0.0, "y": 0.0, "z": 0.0}),
    ):
        yield _case(
            f"struct/no-fill-{what}",
            ("struct.fill",),
            f"{json_text(value)} is not a valid fill value.",
            # The specification requires all fields, but does not forbid others.
            Either()
            if what == "further-field"
            else refused_fill_value(value, "metadata", "extension"),
            point,
            value,
        )
    nested = fields(point=point, value="float64")
    yield _case(
        "struct/no-fill-nested",
        ("struct.fill",),
        "The fill value of a nested field is missing.",
        Reject("metadata", "extension"),
        nested,
        {"point": {"x": 0.0}, "value": 0.0},
    )


def _invalid_structs() -> Iterator[Case]:
    x = {"name": "x", "data_type": "float32"}
    fill = {"x": 0.0}
    for what, configuration, clause in (
        ("fields-left-out", {}, "fields"),
        ("fields-empty", {"fields": []}, "fields"),
        ("fields-object", {"fields": {"x": "float32"}}, "fields"),
        ("fields-null", {"fields": None}, "fields"),
        ("further-member", {"fields": [x], "align": True}, "fields"),
        ("field-pair", {"fields": [["x", "float32"]]}, "field"),
        ("field-text", {"fields": ["x"]}, "field"),
        ("name-left-out", {"fields": [{"data_type": "float32"}]}, "field"),
        ("data-type-left-out", {"fields": [{"name": "x"}]}, "field"),
        ("name-empty", {"fields": [x | {"name": ""}]}, "names"),
        ("name-number", {"fields": [x | {"name": 1}]}, "names"),
        ("name-twice", {"fields": [x, x]}, "names"),
        ("data-type-unknown", {"fields": [x | {"data_type": "int31"}]}, "data-type"),
        ("data-type-null", {"fields": [x | {"data_type": None}]}, "data-type"),
        ("string", {"fields": [x | {"data_type": "string"}]}, "variable"),
        ("bytes", {"fields": [x | {"data_type": "bytes"}]}, "variable"),
    ):
        yield _case(
            f"struct/no-{what}",
            (f"struct.{clause}",),
            f"{json_text(configuration)} is not a valid configuration of struct.",
            Reject("metadata", "extension"),
            {"name": "struct", "configuration": configuration},
            {"x": ""} if clause == "variable" else fill,
        )
    row = fields(**_ROW)
    zero = {"id": 0, "flags": 0, "value": 0.0}
    for what, codecs, clause in (
        ("endian", [_NO_ENDIAN], "endian"),
        ("vlen-utf8", [{"name": "vlen-utf8"}], "no-vlen"),
        ("vlen-bytes", [{"name": "vlen-bytes"}], "no-vlen"),
    ):
        yield _case(
            f"struct/no-{what}",
            (f"struct.{clause}",),
            "Fields of several bytes need a byte order and a codec for fixed-size elements.",
            Reject("metadata", "extension"),
            row,
            zero,
            codecs=codecs,
        )


def _structured() -> Iterator[Case]:
    pairs = extension("structured", fields=[[key, it] for key, it in _ROW.items()])
    objects = {**fields(**_ROW), "name": "structured"}
    little = b"".join(struct.pack("<iBd", *it) for it in _ROWS)
    big = b"".join(struct.pack(">iBd", *it) for it in _ROWS)
    packed = base64.b64encode(bytes(13)).decode()
    zero = {"id": 0, "flags": 0, "value": 0.0}
    fill: Any
    for what, data_type, fill, stored, codecs, clauses in (
        ("pairs", pairs, packed, little, [BYTES], ("pairs", "fill")),
        ("objects", objects, zero, little, [BYTES], ()),
        ("big-endian", pairs, packed, big, [_BIG], ("pairs", "fill")),
        ("no-endian", pairs, packed, little, [_NO_ENDIAN], ("pairs", "endian")),
    ):
        yield _case(
            f"structured/{what}",
            ("structured.read", "struct.structured", *(f"structured.{it}" for it in clauses)),
            "The earlier name structured is accepted.",
            _values(little),
            data_type,
            fill,
            stored,
            codecs=codecs,
        )
    one = (7, 8, 0.5)
    for what, form, codecs in (
        ("little-endian", "<iBd", [BYTES]),
        ("big-endian", ">iBd", [_BIG]),
        ("no-endian", "<iBd", [_NO_ENDIAN]),
    ):
        yield _case(
            f"structured/fill-{what}",
            ("structured.fill", "structured.read"),
            "A fill value in Base64 has the byte order of the array.",
            _values(struct.pack("<iBd", *one) * 3),
            pairs,
            base64.b64encode(struct.pack(form, *one)).decode(),
            codecs=codecs,
        )
    for what, fill in (
        ("short", base64.b64encode(bytes(12)).decode()),
        ("long", base64.b64encode(bytes(14)).decode()),
        ("no-base64", "é"),
        ("number", 0),
    ):
        yield _case(
            f"structured/fill-{what}",
            ("structured.fill",),
            "The fill value does not have the size of an element; it may be rejected.",
            Either(Node("array")),
            pairs,
            fill,
        )
