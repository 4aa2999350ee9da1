"""Comparison of written metadata documents with the metadata that a writer was given.

Two definitions are equal if their specification gives them the same meaning; everything
else that differs is a problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.evaluation.json_values import same
from zarr_conformance.evaluation.stored_data.draft import MEMBERS as DRAFT_MEMBERS
from zarr_conformance.evaluation.stored_data.draft import data_type as draft_data_type
from zarr_conformance.evaluation.stored_data.elements import (
    split,
    type_of_version_2,
    type_of_version_3,
)
from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_conformance.evaluation.stored_data.elements import ElementType

    Document = Mapping[str, Any]

_REQUIRED_3 = (
    *("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding"),
    *("fill_value", "codecs"),
)
_OPTIONAL_3 = ("attributes", "dimension_names", "storage_transformers")


def array_problems_3(requested: Document, written: Document) -> Iterator[str]:
    """Yield differences between array metadata of version 3 and what was written."""
    for member in _REQUIRED_3:
        if member not in written:
            yield f"{member} is missing"
            return
    yield from _plain_problems(requested, written, ("zarr_format", "node_type", "shape"))
    for number in (written["zarr_format"], *written["shape"]):
        if type(number) is not int:
            yield f"{number!r} is written with a fraction or exponent"
    yield from _fill_problems(
        requested,
        written,
        lambda item: type_of_version_3(item["data_type"]),
        requested["data_type"],
    )
    has_order = _has_byte_order(requested["data_type"])
    for member in ("data_type", "chunk_grid", "chunk_key_encoding"):
        yield from _definition_problems(member, requested[member], written[member], has_order)
    yield from _chain_problems("codecs", requested["codecs"], written["codecs"], has_order)
    yield from _chain_problems(
        "storage_transformers",
        requested.get("storage_transformers", []),
        written.get("storage_transformers", []),
        has_order,
    )
    names = [
        item.get("dimension_names") or [None] * len(requested["shape"])
        for item in (requested, written)
    ]
    if names[0] != names[1]:
        yield f"dimension_names: {names[1]!r} instead of {names[0]!r}"
    yield from attribute_problems(requested, written)
    known = {*requested, *_REQUIRED_3, *_OPTIONAL_3}
    yield from _unknown_problems(written, known)


def group_problems_3(requested: Document, written: Document) -> Iterator[str]:
    """Yield differences between group metadata of version 3 and what was written."""
    if written.get("zarr_format") != 3 or written.get("node_type") != "group":
        yield "zarr_format and node_type are not those of a group"
    yield from attribute_problems(requested, written)
    yield from _unknown_problems(
        written, {*requested, "zarr_format", "node_type", "attributes", "consolidated_metadata"}
    )


def _unknown_problems(written: Document, known: set[str]) -> Iterator[str]:
    for name in written.keys() - known:
        value = written[name]
        if not isinstance(value, dict) or value.get("must_understand") is not False:
            yield f"{name} is unknown, and other implementations must not open the node"


def attribute_problems(requested: Document, written: Document) -> Iterator[str]:
    """Yield attributes that were not written; implementations may add others."""
    expected, actual = requested.get("attributes") or {}, written.get("attributes", {})
    if not isinstance(actual, dict):
        yield f"attributes: {actual!r} is not an object"
        return
    for name, value in expected.items():
        if name not in actual:
            yield f"attributes: {name} is missing"
        elif not same(value, actual[name]):
            yield f"attributes: {name} is {actual[name]!r} instead of {value!r}"


def _plain_problems(
    requested: Document, written: Document, members: tuple[str, ...]
) -> Iterator[str]:
    for member in members:
        if not same(requested[member], written[member]):
            yield f"{member}: {written[member]!r} instead of {requested[member]!r}"


def _fill_problems(
    requested: Document, written: Document, kind_of: Callable[[Document], ElementType], name: Any
) -> Iterator[str]:
    """Compare the bits of fill values; those of unknown data types as JSON."""
    try:
        kind = kind_of(requested)
    except UnknownExtensionError:
        return  # cases with such types have the exact document
    expected, actual = requested["fill_value"], written["fill_value"]
    if None in (expected, actual):
        if actual is not expected:
            yield f"fill_value: {actual!r} instead of {expected!r}"
        return
    try:
        if kind.fill(actual) != kind.fill(expected):
            yield f"fill_value: {actual!r} instead of {expected!r}, for {name!r}"
    except StoredDataError as error:
        yield f"fill_value: {error}"


def _has_byte_order(definition: Any) -> bool:
    try:
        return type_of_version_3(definition).has_byte_order
    except UnknownExtensionError:
        return False  # endian is compared by other cases


# Members that may be omitted, with their defaults.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "default": {"separator": "/"},
    "v2": {"separator": "."},
    "zstd": {"checksum": False},
    "cast_value": {"rounding": "nearest-even"},
    "sharding_indexed": {"index_location": "end"},
}
_CHAINS = ("codecs", "index_codecs")

# Extensions whose parameters are all known here.
_STRICT = frozenset(
    {
        *("regular", "default", "v2", "bytes", "transpose", "gzip", "zstd", "blosc", "crc32c"),
        "sharding_indexed",
    }
)


def _definition_problems(at: str, requested: Any, written: Any, has_order: bool) -> Iterator[str]:
    """Yield differences between two extension definitions of version 3."""
    name, expected = split(requested)
    try:
        found_name, actual = split(written)
    except StoredDataError as error:
        yield f"{at}: {error}"
        return
    if found_name != name:
        yield f"{at}: {found_name} instead of {name}"
        return
    defaults = _DEFAULTS.get(name, {})
    expected, actual = defaults | expected, defaults | actual
    if name == "bytes" and not has_order:  # endian has no meaning
        expected, actual = (
            {member: value for member, value in one.items() if member != "endian"}
            for one in (expected, actual)
        )
    if name == "blosc" and expected.get("shuffle") == "noshuffle":  # nor has typesize
        expected, actual = (
            {member: value for member, value in one.items() if member != "typesize"}
            for one in (expected, actual)
        )
    for member in sorted(expected.keys() | actual.keys()):
        if member not in actual:
            yield f"{at}: {name}: {member} is missing"
        elif member not in expected:
            if name not in _STRICT:  # it may be a default, which its specification defines
                continue
            yield f"{at}: {name}: {member} was not given"
        elif member in _CHAINS and isinstance(expected[member], list):
            order = has_order or member == "index_codecs"
            yield from _chain_problems(
                f"{at}: {name}: {member}", expected[member], actual[member], order
            )
        elif not same(expected[member], actual[member]):
            yield f"{at}: {name}: {member} is {actual[member]!r} instead of {expected[member]!r}"


def _chain_problems(at: str, requested: Any, written: Any, has_order: bool) -> Iterator[str]:
    if not isinstance(written, list) or len(written) != len(requested):
        yield f"{at}: {written!r} instead of {requested!r}"
        return
    for number, (one, other) in enumerate(zip(requested, written, strict=True)):
        yield from _definition_problems(f"{at}/{number}", one, other, has_order)
        if isinstance(one, dict) and one.get("name") == "cast_value":
            has_order = _has_byte_order(one.get("configuration", {}).get("data_type"))


# --- version 2 ---

_MEMBERS_2 = ("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order",
              "filters")  # fmt: skip


def array_problems_2(requested: Document, written: Document) -> Iterator[str]:
    """Yield differences between a ``.zarray`` and what was written."""
    for member in _MEMBERS_2:
        if member not in written:
            yield f"{member} is missing"
            return
    yield from _plain_problems(requested, written, ("zarr_format", "shape", "chunks", "dtype"))
    if written["order"] not in ("C", "F"):
        yield f"order is {written['order']!r}"
    elif len(requested["shape"]) > 1:  # both orders of one dimension are the same
        yield from _plain_problems(requested, written, ("order",))
    yield from _fill_problems(
        requested, written, lambda item: type_of_version_2(item["dtype"])[0], requested["dtype"]
    )
    separators = [item.get("dimension_separator", ".") for item in (requested, written)]
    if separators[0] != separators[1]:
        yield f"dimension_separator: {separators[1]!r} instead of {separators[0]!r}"
    size = _size_of(requested, lambda item: type_of_version_2(item["dtype"])[0])
    one, other = (
        [] if item["compressor"] is None else [item["compressor"]] for item in (requested, written)
    )
    yield from _numcodecs_problems("compressor", one, other, size)
    one, other = requested["filters"] or [], written["filters"] or []
    yield from _numcodecs_problems("filters", one, other, size)
    for name in written.keys() - {*_MEMBERS_2, "dimension_separator", *requested}:
        yield f"{name} is not a member of .zarray"


def _size_of(requested: Document, kind_of: Callable[[Document], ElementType]) -> int:
    try:
        return kind_of(requested).size
    except UnknownExtensionError:
        return 0


def _numcodecs_problems(at: str, requested: list[Any], written: Any, size: int) -> Iterator[str]:
    """Compare codecs; implementations may also write parameters that were not given.

    ``size`` is that of an element, which selects the shuffle -1 of Blosc.
    """
    if not isinstance(written, list) or len(written) != len(requested):
        yield f"{at}: {written!r} instead of {requested!r}"
        return
    for one, other in zip(requested, written, strict=True):
        if not isinstance(other, dict):
            yield f"{at}: {other!r} is not an object"
            continue
        for member, value in one.items():
            actual = other.get(member)
            if member not in other and (value is None or value is False):
                continue  # the default of numcodecs
            if member == "shuffle" and value == -1 and actual == (2 if size == 1 else 1):
                continue  # the choice of Blosc
            if member not in other or not same(value, actual):
                yield f"{at}: {member} is {actual!r} instead of {value!r}"


# --- the draft of version 3 ---

_REQUIRED_DRAFT = ("shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value",
                   "attributes", "extensions")  # fmt: skip


def array_problems_draft(requested: Document, written: Document) -> Iterator[str]:
    """Yield differences between array metadata of the draft and what was written."""
    for member in _REQUIRED_DRAFT:
        if member not in written:
            yield f"{member} is missing"
            return
    yield from _plain_problems(requested, written, ("shape", "data_type", "chunk_grid"))
    if len(requested["shape"]) > 1 or written["chunk_memory_layout"] not in ("C", "F"):
        # Both layouts of one dimension are the same.
        yield from _plain_problems(requested, written, ("chunk_memory_layout",))
    yield from _fill_problems(
        requested, written, lambda item: draft_data_type(item["data_type"]), requested["data_type"]
    )
    size = _size_of(requested, lambda item: draft_data_type(item["data_type"]))
    yield from _draft_codec_problems(requested.get("codecs", []), written.get("codecs", []), size)
    for member in ("storage_transformers", "extensions"):
        expected, actual = requested.get(member) or [], written.get(member) or []
        if not same(expected, actual):
            yield f"{member}: {actual!r} instead of {expected!r}"
    yield from attribute_problems(requested, written)
    for name in written.keys() - DRAFT_MEMBERS:
        yield f"{name} is not a member of array metadata"


def _draft_codec_problems(requested: list[Any], written: Any, size: int) -> Iterator[str]:
    types = [[item.get("type") for item in one] for one in (requested, written)]
    if types[0] != types[1]:
        yield f"codecs: {types[1]!r} instead of {types[0]!r}"
        return
    one, other = (
        [item.get("configuration", {}) for item in chain] for chain in (requested, written)
    )
    yield from _numcodecs_problems("codecs", one, other, size)
