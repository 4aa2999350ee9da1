"""Conversion between order, filters and compressor of version 2 and codecs of version 3.

Specification: version 2, "Filters" and "Chunks".  The order ``"F"`` becomes a
``transpose``.  Each filter and the compressor become one codec if their kinds are in the
order of version 3 and they encode the same elements.  Otherwise (unknown ids, a filter
with another byte order, fields of several byte orders) the codec ``v2.filters`` runs all of
them as in version 2.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, MetadataValidationError, ValidationProblem

from zarr_formats import codec_ids
from zarr_formats.codec_ids import ARRAY_TO_ARRAY, ARRAY_TO_BYTES, KINDS
from zarr_formats.metadata_error import metadata_error
from zarr_formats.typestr import OBJECTS, read_dtype, write_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, ArrayMetadata

    from zarr_formats.typestr import ByteOrder, Dtype

    Config = Mapping[str, JSON]

V2_FILTERS = "v2.filters"
"""Name of the codec that runs filters and compressor as in version 2."""

# Members with the data types of the input and output of filters, if not ``dtype``.
_INPUT = {"astype": "decode_dtype"}
_OUTPUT = {"astype": "encode_dtype"}
_BYTE = "|u1"
_NEEDS_OBJECT_CODEC = (
    "an array of Python objects requires a filter that encodes objects, such as vlen-utf8"
)
# Kinds whose elements are integers.
_INTEGERS = frozenset("biumM")


def read_chain(
    dtype: Dtype,
    order: str,
    ndim: int,
    filters: Sequence[Config] | None,
    compressor: Config | None,
) -> tuple[ExtensionDefinition, ...]:
    """Return the codecs of version 3 for order, filters (in the order of encoding) and compressor."""
    items = [(f"/filters/{number}", config) for number, config in enumerate(filters or ())]
    if compressor is not None:
        items.append(("/compressor", compressor))
    before: tuple[ExtensionDefinition, ...] = ()
    if order == "F" and ndim > 1:
        before = (ExtensionDefinition("transpose", {"order": [*reversed(range(ndim))]}),)
    if any(config["id"] == "pickle" for _, config in items):
        # Not within another codec, so that errors contain its name.
        return before + tuple(codec_ids.definition(config) for _, config in items)
    return before + (_in_order(dtype, items) or _v2_filters(dtype, items))


def object_codec(filters: Sequence[Config] | None, compressor: Config | None) -> str | None:
    """Return the id of the first codec, if there is one."""
    for config in (*(filters or ()), compressor):
        if config is not None:
            return str(config["id"])
    return None


def split_chain(
    codecs: Sequence[ExtensionDefinition], document: Any
) -> tuple[tuple[ExtensionDefinition, ...], tuple[ExtensionDefinition, ...]]:
    """Divide a codec chain, from :func:`read_chain`, into filters and compressor."""
    filters = document["filters"] or ()
    named = [codec for codec in codecs if codec.name not in ("transpose", "bytes")]
    if [codec.name for codec in named] == [V2_FILTERS]:
        compressor = document["compressor"]
        configs = [*filters, *([] if compressor is None else [compressor])]
        named = [codec_ids.definition(config) for config in configs]
    return tuple(named[: len(filters)]), tuple(named[len(filters) :])


def write_chain(metadata: ArrayMetadata) -> tuple[str, list[JSON] | None, dict[str, JSON] | None]:
    """Return order, filters and compressor; pointers of errors begin with ``/codecs``."""
    codecs = list(enumerate(metadata.codecs))
    order = "C"
    if codecs and codecs[0][1].name == "transpose":
        order = _read_transpose(codecs.pop(0)[1])
    problems: list[ValidationProblem] = []
    configs: list[dict[str, JSON]] = []
    for number, codec in codecs:
        if codec.name == "bytes":
            # After a filter that encodes objects as numbers.
            if not configs and metadata.data_type.name in OBJECTS:
                problems.append(ValidationProblem(f"/codecs/{number}", _NEEDS_OBJECT_CODEC))
            continue
        if codec.name == V2_FILTERS:
            inner: Any = codec.configuration.get("codecs", [])
            configs += inner
            continue
        try:
            configs.append(codec_ids.config(codec))
        except ValueError as error:
            problems.append(ValidationProblem(f"/codecs/{number}", str(error)))
    problems += _byte_order_problems(metadata)
    if problems:
        raise MetadataValidationError("", problems)
    compressor = None
    if configs and _is_compressor(configs[-1]):
        compressor = configs.pop()
    return order, [*configs] or None, compressor


def set_stored_byte_order(metadata: ArrayMetadata) -> ArrayMetadata:
    """Return metadata whose codec ``bytes`` has the byte order of the output of the last filter.

    Version 2 does not store the byte order of the output elsewhere.
    """
    codecs = list(metadata.codecs)
    for number, (before, codec) in enumerate(pairwise(metadata.codecs), 1):
        dtype = _filter_dtype(before, _OUTPUT)
        if codec.name == "bytes" and dtype is not None and dtype.byte_order in ("little", "big"):
            codecs[number] = ExtensionDefinition("bytes", {"endian": dtype.byte_order})
    return metadata.replace(codecs=tuple(codecs)) if codecs != [*metadata.codecs] else metadata


def write_stored_dtype(metadata: ArrayMetadata) -> JSON:
    """Return the ``dtype`` of an array, in the byte order of the input of its first filter."""
    order: ByteOrder | None = None
    for codec in metadata.codecs:
        if codec.name == V2_FILTERS:
            return codec.configuration["dtype"]
        dtype = _filter_dtype(codec, _INPUT) or _foreign_dtype(codec, metadata)
        if dtype is not None and dtype.byte_order is not None:
            order = dtype.byte_order
            break
        if codec.name == "bytes":
            order = _endian(codec)
    try:
        return write_dtype(metadata.data_type, order)
    except ValueError as error:
        raise metadata_error("/data_type", str(error)) from error


# --- reading ---


def _in_order(
    dtype: Dtype, items: list[tuple[str, Config]]
) -> tuple[ExtensionDefinition, ...] | None:
    """Return one codec for each item; None if this is not possible in version 3."""
    kinds = [KINDS.get(str(config["id"]), -1) for _, config in items]
    if -1 in kinds or kinds != sorted(kinds) or kinds.count(ARRAY_TO_BYTES) > 1:
        return None
    codecs: list[ExtensionDefinition] = []
    current = dtype
    for (pointer, config), kind in zip(items, kinds, strict=True):
        if kind != ARRAY_TO_ARRAY:
            break
        after = _after(current, config, pointer)
        if after is None:
            return None
        codecs.append(codec_ids.definition(config))
        current = after
    if current.byte_order == "mixed":
        return None
    typesize = 1
    if ARRAY_TO_BYTES not in kinds:
        if current.item_size is None:
            pointer = items[len(codecs)][0] if len(codecs) < len(items) else "/filters"
            raise metadata_error(pointer, _NEEDS_OBJECT_CODEC)
        order = current.byte_order
        codecs.append(ExtensionDefinition("bytes", {} if order is None else {"endian": order}))
        typesize = current.item_size
    for (_, config), kind in zip(items, kinds, strict=True):
        if kind != ARRAY_TO_ARRAY:
            codecs.append(codec_ids.definition(config, typesize))
            typesize = 1
    return tuple(codecs)


def _after(current: Dtype, config: Config, pointer: str) -> Dtype | None:
    """Return the output of a filter; None if it reinterprets bytes, as version 2 permits."""
    name = str(config["id"])
    if name == "bitround":
        return current
    if name == "packbits":
        if current.kind != "b":
            raise _unfit(pointer, current, "booleans")
        return read_dtype(_BYTE)
    member = _INPUT.get(name, "dtype")
    dtype = _typestr(config.get(member))
    result = _typestr(
        config.get(
            _OUTPUT.get(name, "astype"), _BYTE if name == "categorize" else config.get(member)
        )
    )
    if dtype is None or result is None:
        return None
    same_kind = dtype.kind == current.kind or (dtype.kind == "i" and current.kind in "mM")
    if same_kind and dtype.item_size == current.item_size:
        return result if dtype.byte_order == current.byte_order else None
    if dtype.item_size == current.item_size and {dtype.kind, current.kind} <= _INTEGERS:
        return None
    raise _unfit(f"{pointer}/{member}", current, repr(dtype.value))


def _v2_filters(dtype: Dtype, items: list[tuple[str, Config]]) -> tuple[ExtensionDefinition, ...]:
    configs: list[JSON] = [dict(config) for _, config in items]
    return (ExtensionDefinition(V2_FILTERS, {"dtype": dtype.value, "codecs": configs}),)


def _unfit(pointer: str, current: Dtype, wanted: str) -> MetadataValidationError:
    return metadata_error(pointer, f"the filter requires {wanted}, not {current.value!r}")


def _typestr(value: Any) -> Dtype | None:
    """Read a typestr of a filter, of which numcodecs accepts more spellings."""
    for mark in ("", "<", "|"):
        with suppress(MetadataValidationError):
            return read_dtype(f"{mark}{value}" if isinstance(value, str) else value)
    if isinstance(value, str):
        with suppress(ValueError):
            return read_dtype(write_dtype(ExtensionDefinition(value), "little"))
    return None


# --- writing ---


def _read_transpose(codec: ExtensionDefinition) -> str:
    order: Any = codec.configuration.get("order")
    if order in ("C", "F"):  # as some writers of version 3 store it
        return str(order)
    if order == [*range(len(order))]:
        return "C"
    if order == [*reversed(range(len(order)))]:
        return "F"
    raise metadata_error(
        "/codecs/0/configuration/order",
        f"version 2 supports only the order of the dimensions or its reverse, not {order}",
    )


def _byte_order_problems(metadata: ArrayMetadata) -> list[ValidationProblem]:
    """Return problems if byte orders differ: version 2 stores only one."""
    last: ByteOrder | None = None
    problems = []
    for number, codec in enumerate(metadata.codecs):
        dtype = _filter_dtype(codec, _INPUT)
        order = dtype.byte_order if dtype is not None else None
        pointer = f"/codecs/{number}/configuration"
        if codec.name == "bytes":
            order, pointer = _endian(codec), f"{pointer}/endian"
        if None not in (order, last) and order != last:
            problems.append(
                ValidationProblem(
                    pointer, f"is {order}-endian, but the codecs before are {last}-endian"
                )
            )
        dtype = _filter_dtype(codec, _OUTPUT)
        last = last if dtype is None else dtype.byte_order
    return problems


def _filter_dtype(codec: ExtensionDefinition, members: Mapping[str, str]) -> Dtype | None:
    """Return the data type of the input or output of a filter."""
    name = codec.name.removeprefix("numcodecs.")
    if KINDS.get(name) != ARRAY_TO_ARRAY or name == codec.name:
        return None
    configuration = codec.configuration
    dtype = configuration.get(_INPUT.get(name, "dtype"))
    if members is _OUTPUT:
        dtype = configuration.get(_OUTPUT.get(name, "astype"), dtype)
    return _typestr(dtype)


def _foreign_dtype(codec: ExtensionDefinition, metadata: ArrayMetadata) -> Dtype | None:
    """Return the data type that a codec of another library requires, if it is that of the array."""
    is_foreign = codec.name.startswith("numcodecs.") and codec.name[10:] not in KINDS
    dtype = _typestr(codec.configuration.get("dtype")) if is_foreign else None
    return dtype if dtype is not None and dtype.data_type == metadata.data_type else None


def _endian(codec: ExtensionDefinition) -> ByteOrder | None:
    endian: Any = codec.configuration.get("endian")
    return endian if endian in ("little", "big") else None


def _is_compressor(config: dict[str, JSON]) -> bool:
    name = str(config["id"])
    if name in codec_ids.CHECKSUMS_AND_SHUFFLES:
        return False
    return (
        KINDS.get(name, codec_ids.BYTES_TO_BYTES) > ARRAY_TO_BYTES or name in codec_ids.COMPRESSORS
    )
