"""Codec chains: the codecs of an array, in the order of encoding.

Specification: v3.1, "Codecs": array -> array codecs, exactly one array -> bytes
codec, bytes -> bytes codecs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine import codec_calls
from zarr_core.engine.prepared_chain import PreparedCodecChain
from zarr_core.errors import CodecChainError, ZarrError
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    Codec,
    SubchunkCodec,
)
from zarr_core.location import NO_LOCATION, Location
from zarr_core.registry.extension_names import name_of
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import create_extension, must_be_complete, reason

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class CodecChain:
    """The codecs of an array in the order of encoding, each with its definition.

    Parameters
    ----------
    definitions : tuple of ExtensionDefinition
        All codecs of the list, including ignored ones.
    codecs : tuple of Codec or None
        None for an ignored codec: unknown, with must_understand false.
    """

    definitions: tuple[ExtensionDefinition, ...]
    codecs: tuple[Codec | None, ...]

    @classmethod
    def from_definitions(
        cls, definitions: Sequence[ExtensionDefinition], location: Location = NO_LOCATION
    ) -> CodecChain:
        """Find the code for each member of a ``codecs`` list.

        Parameters
        ----------
        definitions : sequence of ExtensionDefinition
            The members of the list.
        location : Location
            Location of the list, for messages.  Without a store, the list is part of the
            configuration of another codec; in an argument of a new array, such a list can omit the
            array -> bytes codec (see :meth:`resolve`).

        Raises
        ------
        ExtensionError
            If a codec is unknown, broken or wrongly configured.
        CodecChainError
            If the order of the codecs is invalid.
        """
        codecs = tuple(
            create_extension("codec", definition, location.at(f"/{number}"))
            for number, definition in enumerate(definitions)
        )
        chain = cls(tuple(definitions), codecs)
        complete = location.store is not None or must_be_complete()
        chain._check_order(location, complete=complete)
        return chain

    @classmethod
    def of(
        cls,
        *items: ExtensionDefinition | Codec | str,
        location: Location = NO_LOCATION,
        complete: bool = True,
    ) -> CodecChain:
        """Create a chain for a new array, from definitions, names or codecs.

        The constructors of the codecs and :meth:`resolve` complete the definitions.  Without
        ``complete``, the array -> bytes codec can be missing.

        Examples
        --------
        >>> from zarr_core.codecs.bytes import BytesCodec
        >>> len(CodecChain.of(BytesCodec("little")).codecs)
        1
        """
        definitions = tuple(codec_definition(item) for item in items)
        codecs = tuple(
            item
            if isinstance(item, Codec)
            else create_extension("codec", definition, location.at(f"/{number}"), complete=False)
            for number, (item, definition) in enumerate(zip(items, definitions, strict=True))
        )
        chain = cls(definitions, codecs)
        chain._check_order(location, complete=complete)
        return chain

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Ignored codecs, including those inside other codecs."""
        here = [d for d, codec in zip(self.definitions, self.codecs, strict=True) if codec is None]
        for codec in self.codecs:
            here += getattr(codec, "ignored", ())
        return tuple(here)

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """The byte order of the stored elements, if the array -> bytes codec has one."""
        return next((c.byte_order for c in self.codecs if isinstance(c, ArrayToBytesCodec)), None)

    def to_definitions(self) -> tuple[ExtensionDefinition, ...]:
        """The definitions for the metadata."""
        return self.definitions

    def resolve(self, decoded: ArrayRepresentation) -> CodecChain:
        """The chain of a new array, completed with what depends on its decoded chunk.

        A missing array -> bytes codec is the default serializer of the data type.
        """
        definitions, codecs = [], []
        items = [*zip(self.definitions, self.codecs, strict=True)]
        if not any(isinstance(codec, ArrayToBytesCodec) for codec in self.codecs):
            default = self._encoded(decoded).data_type.default_serializer()
            compressors = (
                number
                for number, codec in enumerate(self.codecs)
                if isinstance(codec, BytesToBytesCodec)
            )
            position = next(compressors, len(items))
            items.insert(position, (default, create_extension("codec", default, complete=False)))
        for definition, codec in items:
            resolved = codec
            if codec is not None:
                name = definition.name
                resolved = codec_calls.query(name, Codec, codec.resolve, decoded)
                configuration = codec_calls.query(name, Mapping, resolved.to_configuration)
                if configuration != dict(definition.configuration):
                    definition = replace(definition, configuration=configuration, spelling=None)
            if isinstance(resolved, ArrayToArrayCodec):
                decoded = encoded_representation(resolved, definition.name, decoded)
            definitions.append(definition)
            codecs.append(resolved)
        return CodecChain(tuple(definitions), tuple(codecs))

    def _encoded(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """The result of the array -> array codecs."""
        for definition, codec in zip(self.definitions, self.codecs, strict=True):
            if isinstance(codec, ArrayToArrayCodec):
                decoded = encoded_representation(codec, definition.name, decoded)
        return decoded

    def after(self, definition: ExtensionDefinition, codec: ArrayToArrayCodec | None) -> CodecChain:
        """The chain with an additional first codec, array -> array; unchanged if it is None."""
        if codec is None:
            return self
        return CodecChain((definition, *self.definitions), (codec, *self.codecs))

    def prepare(self, decoded: ArrayRepresentation) -> PreparedCodecChain:
        """Prepare the codecs for all chunks of one shape.

        Raises
        ------
        CodecChainError
            If a codec does not support its input.
        """
        array_to_array: list[tuple[str, ArrayToArrayCodec]] = []
        array_to_bytes: tuple[str, ArrayToBytesCodec] | None = None
        bytes_to_bytes: list[tuple[str, BytesToBytesCodec]] = []
        representations = [decoded]
        for definition, codec in zip(self.definitions, self.codecs, strict=True):
            name, last = definition.name, representations[-1]
            if isinstance(codec, ArrayToArrayCodec):
                array_to_array.append((name, codec))
                representations.append(encoded_representation(codec, name, last))
            elif isinstance(codec, ArrayToBytesCodec):
                array_to_bytes = (name, codec)
                try:
                    codec.check(last)
                except BaseException as error:
                    raise _refused(name, last, error) from error
            elif isinstance(codec, BytesToBytesCodec):
                prepared = codec_calls.query(name, BytesToBytesCodec, codec.prepare, last)
                bytes_to_bytes.append((name, prepared))
        if array_to_bytes is None:
            raise CodecChainError("a codec chain requires exactly one array -> bytes codec")
        return PreparedCodecChain(array_to_array, array_to_bytes, bytes_to_bytes, representations)

    def _check_order(self, location: Location, *, complete: bool) -> None:
        order = {ArrayToArrayCodec: 0, ArrayToBytesCodec: 1, BytesToBytesCodec: 2}
        kinds = [
            rank for codec in self.codecs for kind, rank in order.items() if isinstance(codec, kind)
        ]
        if kinds != sorted(kinds) or kinds.count(1) > 1 or (complete and not kinds.count(1)):
            names = ", ".join(
                f"{definition.name} ({_KIND_NAMES[rank]})"
                for definition, rank in zip(
                    (d for d, c in zip(self.definitions, self.codecs, strict=True) if c),
                    kinds,
                    strict=True,
                )
            )
            text = str(location)
            raise CodecChainError(
                f"{text and f'{text}: '}codecs must be any array -> array codecs, then exactly one "
                f"array -> bytes codec, then any bytes -> bytes codecs; here: {names or 'none'}"
            )


_KIND_NAMES = ("array -> array", "array -> bytes", "bytes -> bytes")


def codec_definition(item: ExtensionDefinition | Codec | str) -> ExtensionDefinition:
    """The definition of a codec in any form."""
    if isinstance(item, Codec):
        # Classes that wrap those of other libraries have no entry point.
        name = getattr(item, "registered_name", None) or name_of("codec", type(item))
        return ExtensionDefinition(name, codec_calls.query(name, Mapping, item.to_configuration))
    return ExtensionDefinition(item) if isinstance(item, str) else item


def encoded_representation(
    codec: ArrayToArrayCodec, name: str, decoded: ArrayRepresentation
) -> ArrayRepresentation:
    """The result of an array -> array codec; raises CodecChainError for unsupported input."""
    try:
        encoded = codec.encoded_representation(decoded)
        if not isinstance(encoded, ArrayRepresentation):
            raise TypeError(f"encoded_representation returned {encoded!r}")
    except BaseException as error:
        raise _refused(name, decoded, error) from error
    return encoded


def _refused(name: str, decoded: ArrayRepresentation, error: BaseException) -> CodecChainError:
    if not is_fault(error) or (isinstance(error, ZarrError) and not isinstance(error, ValueError)):
        raise error
    return CodecChainError(
        f"the codec {name!r} does not support chunks of shape {decoded.shape} and data type "
        f"{decoded.data_type.to_definition().name}: {reason(error)}"
    )


def inner_order(codecs: PreparedCodecChain) -> tuple[int, ...] | None:
    """The dimensions of a chunk, or inner chunk, in the order in which they are stored.

    The last one is contiguous.  None if it is unknown, because a filter changes the shape of
    chunks in another way than a permutation.
    """
    decoded = codecs.decoded
    # The codecs permute these lengths, which all differ.
    lengths = (*range(2, 2 + len(decoded.shape)),)
    probe = replace(decoded, shape=lengths)
    try:
        for codec in codecs.array_to_array:
            probe = codec.encoded_representation(probe)
            decoded = codec.encoded_representation(decoded)
    except ValueError:
        return None
    if sorted(probe.shape) != [*lengths]:
        return None
    order = tuple(length - 2 for length in probe.shape)
    if not isinstance(codecs.array_to_bytes, SubchunkCodec):
        return order
    chain = codecs.array_to_bytes.inner_codecs(decoded)
    inner = inner_order(chain) if isinstance(chain, PreparedCodecChain) else None
    return None if inner is None else tuple(order[dimension] for dimension in inner)
