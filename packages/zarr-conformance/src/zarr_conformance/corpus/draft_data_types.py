"""Elements, fill values and fallbacks of arrays of the draft of version 3."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.draft_metadata import DATA_TYPES, array, case, codec
from zarr_conformance.corpus.encode import json_text, raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

_EXAMPLES: dict[str, list[Any]] = {
    "bool": [False, True, True, False],
    "int8": [-128, -1, 0, 127],
    "int16": [-(2**15), -1, 258, 2**15 - 1],
    "int32": [-(2**31), -1, 16909060, 2**31 - 1],
    "uint8": [0, 1, 128, 255],
    "uint16": [0, 1, 258, 2**16 - 1],
    "uint32": [0, 1, 16909060, 2**32 - 1],
    "float16": [0.0, -1.5, 65504.0, 6e-8],
    "float32": [-0.0, 1.1, 3e38, 1e-45],
    "float64": [-0.0, 1.1, 1e308, 5e-324],
    "complex64": [0j, 1 - 2j, 1.1j, -3e38],
    "complex128": [0j, 1 - 2j, 1.1j, -1e308],
}


def _case(
    what: str,
    clauses: Any,
    summary: str,
    expect: Expectation,
    members: dict[str, Any],
    chunks: tuple[bytes, ...] = (),
    needs: tuple[str, ...] = (),
) -> Case:
    """Return a case that reads an array of four elements in two chunks."""
    stored = {f"data/a/c{n}": chunk for n, chunk in enumerate(chunks)}
    content = {"meta/a.array.json": array(**members), **stored}
    return case(f"data-types/{what}", clauses, summary, expect, content, "read", needs=needs)


def _values(values: Any) -> Node:
    return Node("array", (4,), values=Values(raw(values)))


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _core()
    yield from _raw()
    yield from _fills()
    yield from table_cases("draft_data_types", "invalid_fills")
    yield from _times()
    yield from _strings()
    yield from table_cases("draft_data_types", "fallbacks")


def _core() -> Iterator[Case]:
    for name, some in _EXAMPLES.items():
        values = np.array(some, np.dtype(name).newbyteorder("<"))
        fill: Any = False if name == "bool" else [0.0, 0.0] if name.startswith("c") else 0
        members = {"data_type": name, "fill_value": fill}
        optional = ("data_type:float16",) if name == "float16" else ()
        always = ("data-type-name", *(("float16",) if optional else ()))
        little = (raw(values[:2]), raw(values[2:]))
        yield _case(
            f"{name}/default",
            (*always, "type-representation", "codecs-none", "codecs-optional"),
            f"Elements of {name} are little-endian without a codec.",
            Accept(_values(values)),
            members,
            little,
            optional,
        )
        for endian in ("little", "big"):
            yield _case(
                f"{name}/{endian}",
                (*always, "endian", "endian-format", "endian-codec")
                + (("endian-default",) if endian == "little" else ()),
                f"Elements of {name} are {endian}-endian with the endian codec.",
                Accept(_values(values)),
                members | {"codecs": [codec("endian", endian=endian)]},
                (raw(values[:2], endian), raw(values[2:], endian)),
                ("codec:endian", *optional),
            )
    # The table omits 64-bit integers; the examples use names of NumPy.
    for name, dtype in (("int64", "<i8"), ("uint64", "<u8"), ("<f8", "<f8"), ("<i4", "<i4")):
        values = np.array([1, 2, 3, 2**31 - 1], dtype)
        yield _case(
            f"open/{name.replace('<', 'lt-')}",
            "type-names",
            f"{name} is not in the table, but its meaning is clear.",
            Either(_values(values)),
            {"data_type": name},
            (raw(values[:2]), raw(values[2:])),
        )


def _raw() -> Iterator[Case]:
    for bits in (8, 16, 24, 64, 128):
        size = bits // 8
        data = bytes(range(1, 4 * size + 1))
        yield _case(
            f"raw/r{bits}",
            ("raw", "raw-fallback"),
            f"r{bits} is stored as {size} bytes without change.",
            Accept(Node("array", (4,), values=Values(data))),
            {"data_type": f"r{bits}", "fill_value": f"0x{'00' * size}"},
            (data[: 2 * size], data[2 * size :]),
            ("data_type:r",),
        )


def _fill_value(what: str, clauses: Any, name: str, value: Any, values: Any, **more: Any) -> Case:
    """Yield a case without chunks: all elements are the fill value."""
    values = np.full(4, values, np.dtype(name).newbyteorder("<"))
    return _case(
        f"fill/{name}-{what}",
        clauses,
        f"{json_text(value)} is a fill value of {name}.",
        more.pop("expect", Accept)(_values(values)),
        {"data_type": name, "fill_value": value},
        **more,
    )


def _fills() -> Iterator[Case]:
    always = ("uninitialised", "fill-required")
    fill_value: Any
    for fill_value in (False, True):
        yield _fill_value(
            str(fill_value).lower(), (*always, "fill-bool"), "bool", fill_value, fill_value
        )
    for name in ("int8", "int16", "int32", "uint8", "uint16", "uint32"):
        limits = np.iinfo(name)
        for kind, fill_value in (("smallest", int(limits.min)), ("largest", int(limits.max))):
            yield _fill_value(kind, (*always, "fill-integer"), name, fill_value, fill_value)
    for name, fill_value in (
        ("float32", 1.5),
        ("float64", 0.1),
        ("float32", 3),
        ("float64", -1e300),
    ):
        kind = str(fill_value).replace(".", "-").replace("+", "").replace("--", "-minus-")
        yield _fill_value(kind, always, name, fill_value, fill_value)
    words = {"NaN": "nan", "+Infinity": "inf", "-Infinity": "-inf"}
    for name in ("float32", "float64"):
        for word, number in words.items():
            if word != "NaN":  # the specification does not define the NaN payload
                yield _fill_value(
                    word.lower().replace("+", "plus-").replace("-i", "minus-i"),
                    (*always, "fill-words"),
                    name,
                    word,
                    float(number),
                )
        yield case(
            f"data-types/fill/{name}-nan",
            ("fill-words", "fill-required"),
            "NaN is a fill value of floating-point data types.",
            Accept(Node("array", (4,))),
            {"meta/a.array.json": array(data_type=name, fill_value="NaN")},
        )
    digits = (*always, "fill-digits", "fill-zeros")
    payload = np.frombuffer(bytes.fromhex("0100c07f"), "<f4")[0]
    for kind, name, text, value in (
        ("hex", "float32", "0x3fc00000", 1.5),
        ("hex-nan", "float32", "0x7fc00001", payload),
        ("hex-minus-zero", "float64", "0x8000000000000000", -0.0),
        ("binary", "float32", "0b00111111110000000000000000000000", 1.5),
        ("hex-leading-zeros", "float64", "0x0000000000000001", 5e-324),
    ):
        yield _fill_value(kind, digits, name, text, value)
    for kind, name, text, value in (
        ("hex", "uint16", "0x0102", 258),
        ("binary", "uint8", "0b00000101", 5),
        ("hex-negative", "int8", "0xff", -1),
    ):
        # One sentence requires numbers, another permits digits.
        yield _fill_value(kind, ("fill-digits", "fill-integer"), name, text, value, expect=Either)
    yield _fill_value(
        "part-stored",
        ("uninitialised",),
        "int32",
        9,
        [1, 2, 9, 9],
        chunks=(raw(np.array([1, 2], "<i4")),),
    )


_CALENDAR = {"Y": "year", "M": "month", "W": "week", "D": "day"}
"""Names of the units in ids, which are lower-case."""


def _times() -> Iterator[Case]:
    uri = f"{DATA_TYPES}/datetime/1.0"
    needs = ("data_type:datetime",)
    steps = np.array([0, 1, -1, 2**40], "<i8")
    units = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
    for letter, clause in (("M", "datetime"), ("m", "timedelta")):
        where = "datetime" if letter == "M" else "timedelta"
        for unit in units:
            yield _case(
                f"{where}/{_CALENDAR.get(unit, unit)}",
                clause,
                f"A {where} counts units of {unit}.",
                Accept(_values(steps)),
                {"data_type": {"extension": uri, "type": f"<{letter}8[{unit}]"}},
                (raw(steps[:2]), raw(steps[2:])),
                needs,
            )
        yield _case(
            f"{where}/big-endian",
            clause,
            f"A {where} may be big-endian.",
            Accept(_values(steps)),
            {"data_type": {"extension": uri, "type": f">{letter}8[s]"}},
            (raw(steps[:2], "big"), raw(steps[2:], "big")),
            needs,
        )
        for kind, value in (
            ("without-unit", f"<{letter}8"),
            ("without-byte-order", f"{letter}8[s]"),
            ("other-unit", f"<{letter}8[S]"),
            ("other-size", f"<{letter}4[s]"),
            ("number", 8),
        ):
            yield case(
                f"data-types/{where}/no-{kind}",
                clause,
                f"{json_text(value)} has no valid byte order and unit.",
                Reject("metadata", "extension"),
                {"meta/a.array.json": array(data_type={"extension": uri, "type": value})},
            )


def _strings() -> Iterator[Case]:
    text = {"extension": f"{DATA_TYPES}/string/1.0"}
    needs = ("data_type:string",)
    some = np.array([b"a", b"bcd", b"efgh", b""], "S4")
    yield _case(
        "string/bytes",
        ("strings", "data-type-type", "data-type-object", "data-type-uri"),
        "The example of the specification: shorter values are padded with zeros.",
        Accept(_values(some)),
        {"data_type": {**text, "type": "S4"}, "fill_value": ""},
        (b"a\0\0\0bcd\0", b"efgh\0\0\0\0"),
        needs,
    )
    for order in ("<", ">"):
        characters = np.array(["a", "é", "efgh", "🙂"], f"{order}U4")
        yield _case(
            f"string/unicode-{'little' if order == '<' else 'big'}",
            "strings",
            "Each character takes four bytes in the given byte order.",
            Accept(_values(characters.astype("<U4"))),
            {"data_type": {**text, "type": f"{order}U4"}, "fill_value": ""},
            (characters[:2].tobytes(), characters[2:].tobytes()),
            needs,
        )
    for kind, value in (("without-byte-order", "U4"), ("letter", "X4"), ("without-length", "S")):
        yield case(
            f"data-types/string/no-{kind}",
            "strings",
            f"{json_text(value)} is not a valid string data type.",
            Reject("metadata", "extension"),
            {"meta/a.array.json": array(data_type={**text, "type": value}, fill_value="")},
        )
    fields = [["age", "<i4"], ["weight", "<f4"], ["name", "<U2"]]
    dogs = np.array(
        [(9, 81.0, "R"), (3, 27.0, "Fi"), (1, 0.5, ""), (0, 0.0, "x")],
        [(name, kind) for name, kind in fields],
    )
    yield _case(
        "struct/fields",
        ("structures",),
        "The fields of a struct are stored one after another; the form of its fill value is undefined.",
        Either(Node("array", (4,), values=Values(dogs.tobytes()))),
        {
            "data_type": {"extension": f"{DATA_TYPES}/struct/1.0", "type": fields},
            "fill_value": base64.b64encode(bytes(16)).decode(),
        },
        (dogs[:2].tobytes(), dogs[2:].tobytes()),
        ("data_type:struct",),
    )
