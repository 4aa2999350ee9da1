"""The codecs of a chain by their kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import CodecChainError, UnknownExtensionError
from zarr_core.interfaces.codec import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
)
from zarr_core.registry.resolve import create_extension, find_provider

if TYPE_CHECKING:
    from collections.abc import Sequence


class Stages(NamedTuple):
    """The codecs of a chain by their kinds, each with its index in the chain."""

    array_to_array: list[tuple[int, ExtensionDefinition]]
    array_to_bytes: list[tuple[int, ExtensionDefinition]]  # none or one
    bytes_to_bytes: list[tuple[int, ExtensionDefinition]]


KINDS = ("array -> array", "array -> bytes", "bytes -> bytes")
_INTERFACES = (ArrayToArrayCodec, ArrayToBytesCodec, BytesToBytesCodec)


def stages(codecs: Sequence[ExtensionDefinition]) -> Stages:
    """Return codecs by their kinds.

    An unknown codec is array -> array before the array -> bytes codec, else bytes -> bytes.

    Raises
    ------
    CodecChainError
        If they are not in this order, or there are several array -> bytes codecs.
    """
    kinds = [_kind(definition) for definition in codecs]
    known = [kind for kind in kinds if kind is not None]
    if known != sorted(known) or known.count(1) > 1:
        raise CodecChainError(
            "codecs must be any array -> array codecs, then at most one array -> bytes codec, then "
            f"any bytes -> bytes codecs; here: {', '.join(item.name for item in codecs)}"
        )
    serializer = kinds.index(1) if 1 in kinds else -1
    found = Stages([], [], [])
    for number, (definition, kind) in enumerate(zip(codecs, kinds, strict=True)):
        if kind is None:
            kind = 0 if number < serializer else 2
        found[kind].append((number, definition))
    return found


def _kind(definition: ExtensionDefinition) -> int | None:
    try:
        provider = find_provider("codec", definition)
        if provider is None:
            return None
        extension = provider.load()
        kinds = [i for i, interface in enumerate(_INTERFACES) if issubclass(extension, interface)]
        if len(kinds) != 1:  # one class can implement several kinds
            codec = create_extension("codec", definition, complete=False)
            kinds = [i for i, interface in enumerate(_INTERFACES) if isinstance(codec, interface)]
    except UnknownExtensionError:
        return None
    return kinds[0]


def inner_codecs(definition: ExtensionDefinition, member: str) -> list[ExtensionDefinition] | None:
    """Return a list of codecs in the configuration of a codec, else None."""
    value = definition.configuration.get(member) if member in ("codecs", "index_codecs") else None
    if not isinstance(value, list) or not all(
        isinstance(item, str) or (isinstance(item, dict) and "name" in item) for item in value
    ):
        return None
    return [ExtensionDefinition.from_json(item) for item in value]
