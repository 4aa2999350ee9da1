"""The list of codecs of an array, in the order that the specification asks for.

Specification: v3.1, "Codecs": array -> array codecs, exactly one array -> bytes
codec, bytes -> bytes codecs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine import calls
from zarr_core.engine.bound import BoundChain
from zarr_core.errors import CodecChainError, ZarrError
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    Codec,
)
from zarr_core.registry.naming import name_of
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import make, reason

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class CodecChain:
    """Codecs in order, each with the definition that it came from.

    Parameters
    ----------
    definitions : tuple of ExtensionDefinition
        All codecs of the list, also those that were left out.
    codecs : tuple of Codec or None
        What implements them; None for one that nobody knows and that need not
        be understood.
    """

    definitions: tuple[ExtensionDefinition, ...]
    codecs: tuple[Codec | None, ...]

    @classmethod
    def from_definitions(
        cls, definitions: Sequence[ExtensionDefinition], where: str = "", pointer: str = ""
    ) -> CodecChain:
        """Find the code for each definition.

        Parameters
        ----------
        definitions : sequence of ExtensionDefinition
            The members of a ``codecs`` list.
        where, pointer : str
            The document and the place of the list in it; for messages.

        Raises
        ------
        ExtensionError
            If a codec is unknown, broken or wrongly configured.
        CodecChainError
            If the kinds of the codecs do not follow each other as they must.
        """
        codecs = tuple(
            make("codec", definition, where, f"{pointer}/{number}")
            for number, definition in enumerate(definitions)
        )
        chain = cls(tuple(definitions), codecs)
        chain._check_order(where, pointer)
        return chain

    @classmethod
    def of(
        cls, *items: ExtensionDefinition | Codec | str, where: str = "", pointer: str = ""
    ) -> CodecChain:
        """Make a chain for a new array, from definitions, names or codecs.

        What a definition does not say is what the constructor of the codec chooses,
        or :meth:`resolve`.  Both record it, so what is written is complete.

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
            else make("codec", definition, where, f"{pointer}/{number}", complete=False)
            for number, (item, definition) in enumerate(zip(items, definitions, strict=True))
        )
        chain = cls(definitions, codecs)
        chain._check_order(where, pointer)
        return chain

    @property
    def skipped(self) -> tuple[ExtensionDefinition, ...]:
        """Codecs that nobody knows; also those inside of a codec that has codecs."""
        here = [d for d, codec in zip(self.definitions, self.codecs, strict=True) if codec is None]
        for codec in self.codecs:
            here += getattr(codec, "skipped", ())
        return tuple(here)

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """The byte order of the stored elements, if the array -> bytes codec says one."""
        return next(c.byte_order for c in self.codecs if isinstance(c, ArrayToBytesCodec))

    def to_definitions(self) -> tuple[ExtensionDefinition, ...]:
        """The definitions to write."""
        return self.definitions

    def resolve(self, decoded: ArrayRepresentation) -> CodecChain:
        """Let every codec fill in what depends on the chunk, for a new array.

        Parameters
        ----------
        decoded : ArrayRepresentation
            The chunk that goes into the first codec.
        """
        definitions, codecs = [], []
        for definition, codec in zip(self.definitions, self.codecs, strict=True):
            resolved = codec
            if codec is not None:
                name = definition.name
                resolved = calls.asked(name, Codec, codec.resolve, decoded)
                configuration = calls.asked(name, Mapping, resolved.to_configuration)
                if configuration != dict(definition.configuration):
                    definition = replace(definition, configuration=configuration, spelling=None)
            if isinstance(resolved, ArrayToArrayCodec):
                decoded = encoded_representation(resolved, definition.name, decoded)
            definitions.append(definition)
            codecs.append(resolved)
        return CodecChain(tuple(definitions), tuple(codecs))

    def after(self, definition: ExtensionDefinition, codec: ArrayToArrayCodec | None) -> CodecChain:
        """The chain with an array -> array codec before all others; the same if there is none."""
        if codec is None:
            return self
        return CodecChain((definition, *self.definitions), (codec, *self.codecs))

    def bind(self, decoded: ArrayRepresentation) -> BoundChain:
        """Prepare everything that is the same for all chunks of one shape.

        Raises
        ------
        CodecChainError
            If a codec does not support what it is given.
        """
        before: list[tuple[str, ArrayToArrayCodec]] = []
        after: list[tuple[str, BytesToBytesCodec]] = []
        steps = [decoded]
        middle: tuple[str, ArrayToBytesCodec] | None = None
        for definition, codec in zip(self.definitions, self.codecs, strict=True):
            if isinstance(codec, ArrayToArrayCodec):
                before.append((definition.name, codec))
                steps.append(encoded_representation(codec, definition.name, steps[-1]))
            elif isinstance(codec, ArrayToBytesCodec):
                middle = (definition.name, codec)
                try:
                    codec.check(steps[-1])
                except BaseException as error:
                    raise _refused(definition.name, steps[-1], error) from error
            elif isinstance(codec, BytesToBytesCodec):
                after.append((definition.name, codec))
        if middle is None:
            raise CodecChainError("a list of codecs needs exactly one array -> bytes codec")
        return BoundChain(before, middle, after, steps)

    def _check_order(self, where: str, pointer: str) -> None:
        order = {ArrayToArrayCodec: 0, ArrayToBytesCodec: 1, BytesToBytesCodec: 2}
        kinds = [
            rank for codec in self.codecs for kind, rank in order.items() if isinstance(codec, kind)
        ]
        if kinds != sorted(kinds) or kinds.count(1) != 1:
            names = ", ".join(
                f"{definition.name} ({_KIND_NAMES[rank]})"
                for definition, rank in zip(
                    (d for d, c in zip(self.definitions, self.codecs, strict=True) if c),
                    kinds,
                    strict=True,
                )
            )
            place = f"{where}{pointer and f' {pointer}'}: " if where or pointer else ""
            raise CodecChainError(
                f"{place}codecs must be any array -> array codecs, then exactly one "
                f"array -> bytes codec, then any bytes -> bytes codecs; here: {names or 'none'}"
            )


_KIND_NAMES = ("array -> array", "array -> bytes", "bytes -> bytes")


def codec_definition(item: ExtensionDefinition | Codec | str) -> ExtensionDefinition:
    """The definition of a codec that is given in any form."""
    if isinstance(item, Codec):
        name = name_of("codec", type(item))
        return ExtensionDefinition(name, calls.asked(name, Mapping, item.to_configuration))
    return ExtensionDefinition(item) if isinstance(item, str) else item


def encoded_representation(
    codec: ArrayToArrayCodec, name: str, decoded: ArrayRepresentation
) -> ArrayRepresentation:
    """What an array -> array codec makes of a representation.

    Raises
    ------
    CodecChainError
        If it does not support it.
    """
    try:
        encoded = codec.encoded_representation(decoded)
        if not isinstance(encoded, ArrayRepresentation):
            raise TypeError(f"encoded_representation gave {encoded!r}")
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
