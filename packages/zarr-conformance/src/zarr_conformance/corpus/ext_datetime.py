"""The registered data types numpy.datetime64 and numpy.timedelta64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Values, refused_fill_value
from zarr_conformance.corpus.encode import document, gzip, json_text, raw
from zarr_conformance.corpus.ext_cases import BYTES, GZIP, extension
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic")
_SLUGS = {"M": "month", "Y": "year", "W": "week", "D": "day", "μs": "mu-s"}
_NAT = -(2**63)
_VALUES = np.array([0, 1, -1, _NAT, 2**62], "<i8")


def _time(name: str, unit: Any = "s", scale_factor: Any = 1) -> dict[str, Any]:
    return extension(name, unit=unit, scale_factor=scale_factor)


def _read_case(
    what: str,
    name: str,
    topics: tuple[str, ...],
    summary: str,
    values: Any,
    stored: bytes | None,
    **members: Any,
) -> Case:
    plain = {
        "shape": [len(values)],
        "chunk_grid": regular(len(values)),
        "data_type": _time(name),
        "codecs": [BYTES],
    }
    metadata = array(**(plain | members))
    return Case(
        f"ext-data-types/{name}/{what}",
        tuple(f"ext-data-types.{name}.{it}" for it in topics),
        summary,
        "read",
        Accept(Node(values=Values(raw(values)))),
        {"zarr.json": document(metadata), **({} if stored is None else {"c/0": stored})},
        needs=(f"data_type:{name}",),
    )


def _reject_case(what: str, name: str, topic: str, summary: str, **members: Any) -> Case:
    metadata = array(**({"data_type": _time(name)} | members))
    return Case(
        f"ext-data-types/{name}/no-{what}",
        (f"ext-data-types.{name}.{topic}",),
        summary,
        "open",
        refused_fill_value(metadata["fill_value"], "metadata", "extension"),
        {"zarr.json": document(metadata)},
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name in ("numpy.datetime64", "numpy.timedelta64"):
        yield from _elements(name)
        yield from _fills(name)
        yield from _configurations(name)


def _elements(name: str) -> Iterator[Case]:
    for unit in _UNITS:
        yield _read_case(
            f"unit-{_SLUGS.get(unit, unit)}",
            name,
            ("unit", "configuration", "bytes") + (("microseconds",) if unit[1:] == "s" else ()),
            f"The unit {unit}.",
            _VALUES,
            raw(_VALUES),
            data_type=_time(name, unit),
        )
    for scale in (2, 10, 2**31 - 1):
        yield _read_case(
            f"scale-factor-{scale}",
            name,
            ("scale-factor", "configuration"),
            f"A scale factor of {scale} seconds.",
            _VALUES,
            raw(_VALUES),
            data_type=_time(name, "s", scale),
        )
    yield _read_case(
        "big-endian",
        name,
        ("bytes",),
        "The byte order is that of the bytes codec.",
        _VALUES,
        raw(_VALUES, "big"),
        codecs=[extension("bytes", endian="big")],
    )
    yield _read_case(
        "gzip",
        name,
        ("bytes",),
        "Compressors may follow the bytes codec.",
        _VALUES,
        gzip(raw(_VALUES)),
        codecs=[BYTES, GZIP],
    )
    metadata = array(
        shape=[5],
        chunk_grid=regular(5),
        data_type=_time(name, "ms", 10),
        codecs=[BYTES],
    )
    yield Case(
        f"ext-data-types/{name}/created",
        tuple(f"ext-data-types.{name}.{it}" for it in ("bytes", "configuration")),
        "The stored bytes are exact.",
        "create",
        Accept(
            Node(
                values=Values(raw(_VALUES)),
                stored={"c/0": raw(_VALUES)},
                documents={"zarr.json": {"data_type": metadata["data_type"]}},
            )
        ),
        needs=(f"data_type:{name}",),
        document=metadata,
    )
    yield _reject_case(
        "endian", name, "bytes", "64-bit integers need a byte order.", codecs=["bytes"]
    )


def _fills(name: str) -> Iterator[Case]:
    for what, fill_value, value in (
        ("zero", 0, 0),
        ("positive", 1000, 1000),
        ("negative", -7, -7),
        ("largest", 2**63 - 1, 2**63 - 1),
        ("beyond-53-bits", 2**53 + 1, 2**53 + 1),
        ("nat", "NaT", _NAT),
        ("nat-number", _NAT, _NAT),
    ):
        yield _read_case(
            f"fill-{what}",
            name,
            ("fill", "nat") if what.startswith("nat") else ("fill",),
            f"The fill value {json_text(fill_value)}.",
            np.full(3, value, "<i8"),
            None,
            fill_value=fill_value,
        )
    for what, wrong in (
        ("fraction", 1.5),
        ("whole-float", 1.0),
        ("too-large", 2**63),
        ("too-small", -(2**63) - 1),
        ("nan", "NaN"),
        ("nat-small", "nat"),
        ("text", "1"),
        ("date", "2020-01-01"),
        ("null", None),
        ("true", True),
        ("list", [0]),
    ):
        yield _reject_case(
            f"fill-{what}",
            name,
            "fill",
            f"{json_text(wrong)} is not a valid fill value.",
            fill_value=wrong,
        )


def _configurations(name: str) -> Iterator[Case]:
    yield _reject_case("name-alone", name, "configuration", "unit is required.", data_type=name)
    for what, configuration, topic in (
        ("configuration", {}, "configuration"),
        ("unit", {"scale_factor": 1}, "configuration"),
        ("scale-factor", {"unit": "s"}, "configuration"),
        ("further-member", {"unit": "s", "scale_factor": 1, "endian": "big"}, "configuration"),
        ("unit-other", {"unit": "S", "scale_factor": 1}, "unit"),
        ("unit-word", {"unit": "second", "scale_factor": 1}, "unit"),
        ("unit-empty", {"unit": "", "scale_factor": 1}, "unit"),
        ("unit-null", {"unit": None, "scale_factor": 1}, "unit"),
        ("scale-zero", {"unit": "s", "scale_factor": 0}, "scale-factor"),
        ("scale-negative", {"unit": "s", "scale_factor": -1}, "scale-factor"),
        ("scale-too-large", {"unit": "s", "scale_factor": 2**31}, "scale-factor"),
        ("scale-fraction", {"unit": "s", "scale_factor": 1.5}, "scale-factor"),
        ("scale-text", {"unit": "s", "scale_factor": "1"}, "scale-factor"),
        ("scale-true", {"unit": "s", "scale_factor": True}, "scale-factor"),
    ):
        yield _reject_case(
            what,
            name,
            topic,
            f"{json_text(configuration)} is not a valid configuration of {name}.",
            data_type={"name": name, "configuration": configuration},
        )
