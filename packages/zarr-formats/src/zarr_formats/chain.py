"""Order, filters, compressor of version 2 as the codecs of version 3, or back.

Specification: version 2, "Filters" and "Chunks".  The order ``"F"`` becomes a
``transpose``.  Filters and compressor become codecs of their own where their
kinds come in the order of version 3, and where they mean the same element by
element.  Where they do not (ids that are not known here, bytes that a filter takes
for elements of another byte order, fields of several byte orders) one codec,
``v2.filters``, runs them as version 2 did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, MetadataValidationError, Problem

from zarr_formats import codec_ids
from zarr_formats.codec_ids import ARRAY_TO_ARRAY, ARRAY_TO_BYTES, KINDS
from zarr_formats.typestr import OBJECTS, read_dtype, refusal, write_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, ArrayMetadata

    from zarr_formats.typestr import ByteOrder, Dtype

    Config = Mapping[str, JSON]

AS_BEFORE = "v2.filters"
"""Name of the codec that runs filters and compressor as version 2 did."""

# Where each filter says what it is given, and what it gives.
_INPUT = {"astype": "decode_dtype"}
_OUTPUT = {"astype": "encode_dtype"}
_BYTE = "|u1"
_NEEDS_OBJECT_CODEC = (
    "an array of Python objects needs a filter that makes bytes of them, such as vlen-utf8"
)
# Elements that are integers of the same size, whatever they are called.
_INTEGERS = frozenset("biumM")


def read_chain(
    dtype: Dtype,
    order: str,
    ndim: int,
    filters: Sequence[Config] | None,
    compressor: Config | None,
) -> tuple[ExtensionDefinition, ...]:
    """Codecs of version 3 for what a document says.

    Parameters
    ----------
    dtype : Dtype
        The elements of the array.
    order : {"C", "F"}
        Which dimension varies fastest in a chunk: the last or the first.
    ndim : int
        Number of dimensions.
    filters : sequence of mapping, optional
        Configurations of numcodecs, each with its ``id``, in the order of encoding.
    compressor : mapping, optional
        Another one, the last.

    Raises
    ------
    MetadataValidationError
        If a filter is given elements that it is not made for; ``where`` is empty and
        pointers begin with ``/filters`` or ``/compressor``.
    """
    items = [(f"/filters/{number}", config) for number, config in enumerate(filters or ())]
    if compressor is not None:
        items.append(("/compressor", compressor))
    before: tuple[ExtensionDefinition, ...] = ()
    if order == "F" and ndim > 1:
        before = (ExtensionDefinition("transpose", {"order": [*reversed(range(ndim))]}),)
    if any(config["id"] == "pickle" for _, config in items):
        # Never hidden within another codec: whoever may not have it is told so.
        return before + tuple(codec_ids.definition(config) for _, config in items)
    return before + (_in_order(dtype, items) or _as_before(dtype, items))


def object_codec(filters: Sequence[Config] | None, compressor: Config | None) -> str | None:
    """The id of the codec that is given the elements of the array, if there is one."""
    for config in (*(filters or ()), compressor):
        if config is not None:
            return str(config["id"])
    return None


def write_chain(metadata: ArrayMetadata) -> tuple[str, list[JSON] | None, dict[str, JSON] | None]:
    """Order, filters, compressor for the codecs of an array.

    Raises
    ------
    MetadataValidationError
        If version 2 has no words for them; ``where`` is empty and pointers begin with
        ``/codecs``.
    """
    codecs = list(enumerate(metadata.codecs))
    order = "C"
    if codecs and codecs[0][1].name == "transpose":
        order = _read_transpose(codecs.pop(0)[1])
    problems: list[Problem] = []
    configs: list[dict[str, JSON]] = []
    for number, codec in codecs:
        if codec.name == "bytes":
            # Numbers that a filter has made of them are no objects any more.
            if not configs and metadata.data_type.name in OBJECTS:
                problems.append(Problem(f"/codecs/{number}", _NEEDS_OBJECT_CODEC))
            continue
        if codec.name == AS_BEFORE:
            inner: Any = codec.configuration.get("codecs", [])
            configs += inner
            continue
        try:
            configs.append(codec_ids.config(codec))
        except ValueError as error:
            problems.append(Problem(f"/codecs/{number}", str(error)))
    problems += _byte_order_problems(metadata)
    if problems:
        raise MetadataValidationError("", problems)
    compressor = None
    if configs and _is_compressor(configs[-1]):
        compressor = configs.pop()
    return order, [*configs] or None, compressor


def write_stored_dtype(metadata: ArrayMetadata) -> JSON:
    """The ``dtype`` of an array, in the byte order in which its first filter gets elements.

    Raises
    ------
    MetadataValidationError
        If there is no typestr for it; ``where`` is empty.
    """
    order: ByteOrder | None = None
    for codec in metadata.codecs:
        if codec.name == AS_BEFORE:
            return codec.configuration["dtype"]
        given = _given(codec, _INPUT)
        if given is not None and given.byte_order is not None:
            order = given.byte_order
            break
        if codec.name == "bytes":
            order = _endian(codec)
    try:
        return write_dtype(metadata.data_type, order)
    except ValueError as error:
        raise refusal("/data_type", str(error)) from error


# --- reading ---


def _in_order(
    dtype: Dtype, items: list[tuple[str, Config]]
) -> tuple[ExtensionDefinition, ...] | None:
    """The codecs one by one; None if version 3 cannot have them so."""
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
            raise refusal(pointer, _NEEDS_OBJECT_CODEC)
        order = current.byte_order
        codecs.append(ExtensionDefinition("bytes", {} if order is None else {"endian": order}))
        typesize = current.item_size
    for (_, config), kind in zip(items, kinds, strict=True):
        if kind != ARRAY_TO_ARRAY:
            codecs.append(codec_ids.definition(config, typesize))
            typesize = 1
    return tuple(codecs)


def _after(current: Dtype, config: Config, pointer: str) -> Dtype | None:
    """What a filter gives; None if it takes the bytes for something else, as version 2 lets it.

    Raises
    ------
    MetadataValidationError
        If it is not made for such elements.
    """
    name = str(config["id"])
    if name == "bitround":
        return current
    if name == "packbits":
        if current.kind != "b":
            raise _unfit(pointer, current, "truth values")
        return read_dtype(_BYTE)
    member = _INPUT.get(name, "dtype")
    given = _typestr(config.get(member))
    result = _typestr(
        config.get(
            _OUTPUT.get(name, "astype"), _BYTE if name == "categorize" else config.get(member)
        )
    )
    if given is None or result is None:
        return None
    same_kind = given.kind == current.kind or (given.kind == "i" and current.kind in "mM")
    if same_kind and given.item_size == current.item_size:
        return result if given.byte_order == current.byte_order else None
    if given.item_size == current.item_size and {given.kind, current.kind} <= _INTEGERS:
        return None
    raise _unfit(f"{pointer}/{member}", current, repr(given.value))


def _as_before(dtype: Dtype, items: list[tuple[str, Config]]) -> tuple[ExtensionDefinition, ...]:
    configs: list[JSON] = [dict(config) for _, config in items]
    return (ExtensionDefinition(AS_BEFORE, {"dtype": dtype.value, "codecs": configs}),)


def _unfit(pointer: str, current: Dtype, wanted: str) -> MetadataValidationError:
    return refusal(pointer, f"the filter is for {wanted}, and is given {current.value!r}")


def _typestr(value: Any) -> Dtype | None:
    """A typestr in the configuration of a filter, which numcodecs takes in more spellings."""
    for mark in ("", "<", "|"):
        try:
            return read_dtype(f"{mark}{value}" if isinstance(value, str) else value)
        except MetadataValidationError:
            continue
    if isinstance(value, str):
        try:
            return read_dtype(write_dtype(ExtensionDefinition(value), "little"))
        except ValueError:
            return None
    return None


# --- writing ---


def _read_transpose(codec: ExtensionDefinition) -> str:
    order: Any = codec.configuration.get("order")
    if order == [*range(len(order))]:
        return "C"
    if order == [*reversed(range(len(order)))]:
        return "F"
    raise refusal(
        "/codecs/0/configuration/order",
        f"version 2 can store dimensions as they are, or all of them reversed, not as {order}",
    )


def _byte_order_problems(metadata: ArrayMetadata) -> list[Problem]:
    """Filters and the ``bytes`` codec must agree, as version 2 has one place to say it."""
    last: ByteOrder | None = None
    problems = []
    for number, codec in enumerate(metadata.codecs):
        given = _given(codec, _INPUT)
        order = given.byte_order if given is not None else None
        pointer = f"/codecs/{number}/configuration"
        if codec.name == "bytes":
            order, pointer = _endian(codec), f"{pointer}/endian"
        if None not in (order, last) and order != last:
            problems.append(
                Problem(pointer, f"elements are {order}-endian here, and {last}-endian before")
            )
        given = _given(codec, _OUTPUT)
        last = last if given is None else given.byte_order
    return problems


def _given(codec: ExtensionDefinition, members: Mapping[str, str]) -> Dtype | None:
    """What a filter says that it is given, or gives."""
    name = codec.name.removeprefix("numcodecs.")
    if KINDS.get(name) != ARRAY_TO_ARRAY or name == codec.name:
        return None
    configuration = codec.configuration
    given = configuration.get(_INPUT.get(name, "dtype"))
    if members is _OUTPUT:
        given = configuration.get(_OUTPUT.get(name, "astype"), given)
    return _typestr(given)


def _endian(codec: ExtensionDefinition) -> ByteOrder | None:
    match codec.configuration.get("endian"):
        case "little":
            return "little"
        case "big":
            return "big"
    return None


def _is_compressor(config: dict[str, JSON]) -> bool:
    name = str(config["id"])
    return (
        KINDS.get(name, codec_ids.BYTES_TO_BYTES) > ARRAY_TO_BYTES or name in codec_ids.COMPRESSORS
    )
