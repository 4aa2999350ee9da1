"""conditional codec (bytes -> bytes): other codecs, each applied to a chunk or not.

Name:           conditional
Specification:  zarr-extensions, codecs/conditional
Configuration:  {"codecs": [{"name": "zstd", "configuration": {...}}], "header_bits": 8}
Schema:         schemas/codec/conditional.json
Partial decode: no
Compatible:     none known
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from zarr_core.extension import (
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    CodecChain,
    CodecChainError,
    ExtensionDefinition,
    make_extension,
)

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

    Codecs = tuple[BytesToBytesCodec | None, ...]

CodecLike: TypeAlias = "Codec | ExtensionDefinition | str | Mapping[str, JSON]"
Decision: TypeAlias = "Callable[[int, BytesToBytesCodec, Buffer, Buffer | None], bool]"
"""Whether to apply a codec to a chunk: its place in ``codecs``, the codec, the bytes of the
chunk, and what the codec makes of them, if that is to be tried (else None)."""

_NAME = "conditional"
_BYTE = 8  # bits


def compress_if_smaller(
    place: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None
) -> bool:
    """Apply a codec that, alone, makes the chunk smaller."""
    return trial is not None and len(trial) < len(chunk)


def always_apply(place: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None) -> bool:
    """Apply every codec."""
    return True


def never_apply(place: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None) -> bool:
    """Apply no codec."""
    return False


_DECISIONS: dict[str, tuple[Decision, bool]] = {
    "compress_if_smaller": (compress_if_smaller, True),
    "always_apply": (always_apply, False),
    "never_apply": (never_apply, False),
}


@dataclass(frozen=True, slots=True)
class ConditionalCodec(BytesToBytesCodec):
    """Store a bit for each codec, which says whether it was applied; then the bytes.

    The metadata do not say when a codec is applied: who writes a chunk decides, see
    :meth:`deciding`.  Without a decision none is, as the specification has it.

    Parameters
    ----------
    codecs : sequence of codecs
        Bytes -> bytes codecs, each a codec, a definition, a name or JSON; afterwards
        a tuple of definitions.
    header_bits : int, optional
        How many bits there are, a multiple of 8; the fewest that suffice if not given.

    Raises
    ------
    ValueError
        If a codec is of another kind, or the bits are too few or no whole bytes.
    ExtensionError
        If a codec is not known.
    """

    codecs: Sequence[CodecLike]
    header_bits: int | None = None
    _made: Codecs | None = field(default=None, repr=False, compare=False)

    decision: ClassVar[tuple[Decision, bool]] = (never_apply, False)  # and whether to try

    def __post_init__(self) -> None:
        if self._made is None:
            definitions, made = _new(self.codecs)
            object.__setattr__(self, "codecs", definitions)
            object.__setattr__(self, "_made", made)
        bits, count = self.header_bits, len(self.codecs)
        if bits is not None and (type(bits) is not int or bits < 0 or bits % _BYTE):
            raise ValueError(f"header_bits must be a multiple of {_BYTE}, not {bits!r}")
        if bits is not None and bits < count:
            raise ValueError(f"header_bits must be at least {count}, a bit for each codec")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec, and with it those inside it."""
        configuration: Mapping[str, Any] = definition.configuration
        definitions = tuple(map(ExtensionDefinition.from_json, configuration["codecs"]))
        made = tuple(
            make_extension("codec", inner, pointer=f"/configuration/codecs/{place}")
            for place, inner in enumerate(definitions)
        )
        for inner, codec in zip(definitions, made, strict=True):
            if codec is not None and not isinstance(codec, BytesToBytesCodec):
                raise ValueError(f"{inner.name!r} is no bytes -> bytes codec")
        return cls(definitions, configuration.get("header_bits"), made)

    @classmethod
    def deciding(cls, decision: str | Decision, *, trial_encode: bool = False) -> type[Self]:
        """The codec with a decision for writing, to be given where an array is made or opened.

        Parameters
        ----------
        decision : str or callable
            ``"compress_if_smaller"``, ``"always_apply"``, ``"never_apply"``, or a
            function; see ``Decision``.
        trial_encode : bool
            Whether the function is given what each codec makes of the chunk.

        Raises
        ------
        ValueError
            If no decision has that name.

        Examples
        --------
        >>> smaller = ConditionalCodec.deciding("compress_if_smaller")
        >>> extensions = {"codec": {"conditional": smaller}}  # of open, create_array ...
        """
        if isinstance(decision, str):
            if decision not in _DECISIONS:
                raise ValueError(f"decision {decision!r} is none of {', '.join(_DECISIONS)}")
            chosen = _DECISIONS[decision]
        else:
            chosen = decision, trial_encode
        members = {"__slots__": (), "__module__": __name__, "decision": chosen}
        return type(cls.__name__, (cls,), members)

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration to write; codecs are spelt as they were read."""
        definitions: Sequence[Any] = self.codecs
        configuration: dict[str, JSON] = {"codecs": [inner.to_json() for inner in definitions]}
        return configuration | (
            {} if self.header_bits is None else {"header_bits": self.header_bits}
        )

    @property
    def skipped(self) -> tuple[ExtensionDefinition, ...]:
        """Codecs that nobody knows and that need not be understood."""
        definitions: Sequence[Any] = self.codecs
        return tuple(d for d, codec in zip(definitions, self._inner, strict=True) if codec is None)

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Let the codecs fill in what depends on the chunk."""
        made = tuple(codec and codec.resolve(decoded) for codec in self._inner)
        definitions: list[Any] = list(self.codecs)
        for place, codec in enumerate(made):
            configuration = {} if codec is None else codec.to_configuration()
            if codec is not None and configuration != dict(definitions[place].configuration):
                definitions[place] = replace(
                    definitions[place], configuration=configuration, spelling=None
                )
        return replace(self, codecs=tuple(definitions), _made=made)

    def encode(self, data: Buffer) -> Buffer:
        """Decide about each codec, apply those that are to be, put the bits before."""
        decide, trial_encode = self.decision
        trials: dict[int, Buffer] = {}
        mask = 0
        for place, codec in enumerate(self._inner):
            assert codec is not None  # such an array cannot be written to
            if trial_encode:
                trials[place] = codec.encode(data)
            if decide(place, codec, data, trials.get(place)):
                mask |= 1 << place
        chunk = data
        for place, codec in enumerate(self._inner):
            if mask >> place & 1 and codec is not None:
                tried = trials.get(place) if chunk is data else None
                chunk = codec.encode(chunk) if tried is None else tried
        return b"".join((mask.to_bytes(self._header, "little"), chunk))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Undo the codecs that were applied, the last one first."""
        content, applied = self._applied(data, decoded_size)
        for codec, size in reversed(applied):
            content = codec.decode(content, size)
        if decoded_size is not None and len(content) != decoded_size:
            raise ChunkDecodeError(f"{len(content)} bytes instead of {decoded_size}", _NAME)
        return content

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Undo the codecs that were applied, the first of them straight into ``out``."""
        content, applied = self._applied(data, len(out))
        for codec, size in reversed(applied[1:]):
            content = codec.decode(content, size)
        if applied:
            applied[0][0].decode_into(content, out)
        elif len(content) != len(out):
            raise ChunkDecodeError(f"{len(content)} bytes instead of {len(out)}", _NAME)
        else:
            out[:] = content

    def _applied(
        self, data: Buffer, size: int | None
    ) -> tuple[Buffer, list[tuple[BytesToBytesCodec, int | None]]]:
        """What follows the header, and the codecs to undo with the size that each must give."""
        if len(data) < self._header:
            raise ChunkDecodeError(
                f"{len(data)} bytes; the header alone takes {self._header}", _NAME
            )
        view = memoryview(data)
        mask = int.from_bytes(view[: self._header], "little")
        if mask >> len(self._inner):
            raise ChunkDecodeError(
                f"the header {mask:#b} says that codecs were applied which are not in the "
                f"metadata; there are {len(self._inner)}",
                _NAME,
            )
        applied = []
        for place, codec in enumerate(self._inner):
            if not mask >> place & 1:
                continue
            if codec is None:
                definition: Any = self.codecs[place]
                raise ChunkDecodeError(
                    f"the codec {definition.name!r} was applied, which nobody knows here", _NAME
                )
            applied.append((codec, size))
            size = None if size is None else codec.encoded_size(size)
        return view[self._header :], applied

    @property
    def _header(self) -> int:
        """Bytes before the content."""
        bits = len(self.codecs) if self.header_bits is None else self.header_bits
        return -(-bits // _BYTE)

    @property
    def _inner(self) -> Codecs:
        assert self._made is not None
        return self._made

    def __hash__(self) -> int:
        return hash((len(self.codecs), self.header_bits))  # definitions have no hash


def _new(codecs: Sequence[CodecLike]) -> tuple[tuple[ExtensionDefinition, ...], Codecs]:
    """Definitions and codecs for what a user gave."""
    items = [
        ExtensionDefinition.from_json(dict(item)) if isinstance(item, Mapping) else item
        for item in codecs
    ]
    try:
        chain = CodecChain.of("bytes", *items)  # which a chain needs; it is left out again
    except CodecChainError as error:
        raise ValueError(f"codecs must all be bytes -> bytes codecs: {error}") from error
    made: Any = chain.codecs[1:]
    return chain.definitions[1:], made
