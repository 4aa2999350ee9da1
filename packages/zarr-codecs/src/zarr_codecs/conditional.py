"""conditional codec (bytes -> bytes): codecs that are applied to some chunks only.

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

from zarr_core.config import max_encoded_nbytes
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import CodecChainError
from zarr_core.extension import (
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    ExtensionDefinition,
    Location,
    create_extension,
)

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

    Codecs = tuple[BytesToBytesCodec | None, ...]
    Steps = list[tuple[BytesToBytesCodec, int | None]]

CodecLike: TypeAlias = "Codec | ExtensionDefinition | str | Mapping[str, JSON]"
Decision: TypeAlias = "Callable[[int, BytesToBytesCodec, Buffer, Buffer | None], bool]"
"""Decides whether a codec is applied to a chunk.  Arguments: index in ``codecs``, the codec, the
bytes of the chunk, and these bytes encoded by the codec (None without trial encoding)."""

_NAME = "conditional"
_BYTE = 8  # bits


def compress_if_smaller(
    index: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None
) -> bool:
    """Apply a codec if it alone makes the chunk smaller."""
    return trial is not None and len(trial) < len(chunk)


def always_apply(index: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None) -> bool:
    """Apply every codec."""
    return True


def never_apply(index: int, codec: BytesToBytesCodec, chunk: Buffer, trial: Buffer | None) -> bool:
    """Apply no codec."""
    return False


_DECISIONS: dict[str, tuple[Decision, bool]] = {
    "compress_if_smaller": (compress_if_smaller, True),
    "always_apply": (always_apply, False),
    "never_apply": (never_apply, False),
}


@dataclass(frozen=True, slots=True)
class ConditionalCodec(BytesToBytesCodec):
    """Store a bit for each codec that tells whether it is applied, then the bytes.

    The metadata does not define when a codec is applied; the writer decides for each
    chunk, see :meth:`deciding`.  By default no codec is applied, as the specification
    requires.

    Parameters
    ----------
    codecs : sequence of codecs
        Bytes -> bytes codecs, each a codec, a definition, a name or JSON; stored as a
        tuple of definitions.
    header_bits : int, optional
        Size of the header in bits, a multiple of 8; the smallest possible if not given.

    Raises
    ------
    ValueError
        If a codec is not bytes -> bytes, or ``header_bits`` is too small or not a multiple of 8.
    ExtensionError
        If a codec is unknown.
    """

    codecs: Sequence[CodecLike]
    header_bits: int | None = None
    _codecs: Codecs | None = field(default=None, repr=False, compare=False)

    decision: ClassVar[tuple[Decision, bool]] = (never_apply, False)  # and trial_encode

    def __post_init__(self) -> None:
        if self._codecs is None:
            definitions, created = _parse_codecs(self.codecs)
            object.__setattr__(self, "codecs", definitions)
            object.__setattr__(self, "_codecs", created)
        bits, count = self.header_bits, len(self.codecs)
        if bits is not None and (type(bits) is not int or bits < 0 or bits % _BYTE):
            raise ValueError(f"header_bits must be a multiple of {_BYTE}, not {bits!r}")
        if bits is not None and bits < count:
            raise ValueError(f"header_bits must be at least {count}, one bit for each codec")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the codec and its inner codecs."""
        configuration: Mapping[str, Any] = definition.configuration
        definitions = tuple(map(ExtensionDefinition.from_json, configuration["codecs"]))
        created = tuple(
            create_extension("codec", inner, Location(pointer=f"/configuration/codecs/{index}"))
            for index, inner in enumerate(definitions)
        )
        for inner, codec in zip(definitions, created, strict=True):
            if codec is not None and not isinstance(codec, BytesToBytesCodec):
                raise ValueError(f"{inner.name!r} is not a bytes -> bytes codec")
        return cls(definitions, configuration.get("header_bits"), created)

    @classmethod
    def deciding(cls, decision: str | Decision, *, trial_encode: bool = False) -> type[Self]:
        """Return the codec class with a decision for writing.

        Parameters
        ----------
        decision : str or callable
            ``"compress_if_smaller"``, ``"always_apply"``, ``"never_apply"``, or a
            function; see ``Decision``.
        trial_encode : bool
            Whether the function receives the chunk encoded by each codec.

        Raises
        ------
        ValueError
            If the name of the decision is unknown.

        Examples
        --------
        >>> smaller = ConditionalCodec.deciding("compress_if_smaller")
        >>> extensions = {"codec": {"conditional": smaller}}  # for open, create_array ...
        """
        if isinstance(decision, str):
            if decision not in _DECISIONS:
                raise ValueError(
                    f"decision must be one of {', '.join(_DECISIONS)}, not {decision!r}"
                )
            chosen = _DECISIONS[decision]
        else:
            chosen = decision, trial_encode
        members = {"__slots__": (), "__module__": __name__, "decision": chosen}
        return type(cls.__name__, (cls,), members)

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration; inner codecs keep the form in which they were read."""
        definitions: Sequence[Any] = self.codecs
        configuration: dict[str, JSON] = {"codecs": [inner.to_json() for inner in definitions]}
        return configuration | (
            {} if self.header_bits is None else {"header_bits": self.header_bits}
        )

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Ignored codecs: unknown, with must_understand false."""
        definitions: Sequence[Any] = self.codecs
        return tuple(d for d, codec in zip(definitions, self._inner, strict=True) if codec is None)

    @property
    def max_concurrency(self) -> int | None:
        """The largest number of the inner codecs."""
        limits = (codec.max_concurrency for codec in self._inner if codec is not None)
        return max(filter(None, limits), default=None)

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Fill in the parameters of the inner codecs that depend on the chunk."""
        created = tuple(codec and codec.complete(decoded) for codec in self._inner)
        definitions: list[Any] = list(self.codecs)
        for index, codec in enumerate(created):
            configuration = {} if codec is None else codec.to_configuration()
            if codec is not None and configuration != dict(definitions[index].configuration):
                definitions[index] = replace(
                    definitions[index], configuration=configuration, spelling=None
                )
        return replace(self, codecs=tuple(definitions), _codecs=created)

    def prepare(self, decoded: ArrayRepresentation) -> Self:
        """Prepare the inner codecs."""
        return replace(
            self, _codecs=tuple(codec and codec.prepare(decoded) for codec in self._inner)
        )

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Apply the chosen codecs, and prepend the header."""
        decide, trial_encode = self.decision
        trials: dict[int, Buffer] = {}
        mask = 0
        for index, codec in enumerate(self._inner):
            assert codec is not None  # arrays with ignored codecs are read-only
            if trial_encode:
                trials[index] = codec.encode(data, decoded_size)
            if decide(index, codec, data, trials.get(index)):
                mask |= 1 << index
        chunk = data
        for index, codec in enumerate(self._inner):
            if mask >> index & 1 and codec is not None:
                tried = trials.get(index) if chunk is data else None
                if tried is None:
                    tried = codec.encode(chunk, decoded_size if chunk is data else None)
                chunk = tried
        return b"".join((mask.to_bytes(self._header, "little"), chunk))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decode with the applied codecs, the last one first."""
        content, applied = self._applied(data, decoded_size)
        content = self._decode_steps(content, applied, decoded_size)
        if decoded_size is not None and len(content) != decoded_size:
            raise ChunkDecodeError(
                f"decodes to {len(content)} bytes instead of {decoded_size}", _NAME
            )
        return content

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decode with the applied codecs, each up to a limit."""
        content, applied = self._applied(data, None)
        for codec, _ in reversed(applied):
            decoded = codec.decode_limited(content, limit)
            if isinstance(decoded, int) or len(decoded) > limit:
                return decoded
            content = decoded
        return content

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decode with the applied codecs, the last step directly into ``out``."""
        content, applied = self._applied(data, len(out))
        content = self._decode_steps(content, applied[1:], len(out))
        if applied:
            applied[0][0].decode_into(content, out)
        elif len(content) != len(out):
            raise ChunkDecodeError(f"decodes to {len(content)} bytes instead of {len(out)}", _NAME)
        else:
            out[:] = content

    def _decode_steps(self, content: Buffer, applied: Steps, decoded_size: int | None) -> Buffer:
        """Decode with some of the codecs, the last one first; limits sizes that are unknown."""
        for codec, size in reversed(applied):
            if size is None and decoded_size is not None:
                limit = max_encoded_nbytes(decoded_size)
                decoded = codec.decode_limited(content, limit)
                if isinstance(decoded, int):
                    raise ChunkDecodeError(f"decodes to more than {limit} bytes", _NAME)
                content = decoded
            else:
                content = codec.decode(content, size)
        return content

    def _applied(self, data: Buffer, size: int | None) -> tuple[Buffer, Steps]:
        """Return the bytes after the header, and the applied codecs with their decoded sizes."""
        if len(data) < self._header:
            raise ChunkDecodeError(
                f"{len(data)} bytes are too few for a header of {self._header} bytes", _NAME
            )
        view = memoryview(data)
        mask = int.from_bytes(view[: self._header], "little")
        if mask >> len(self._inner):
            raise ChunkDecodeError(
                f"the header {mask:#b} refers to codecs that are not in the metadata, "
                f"which has {len(self._inner)}",
                _NAME,
            )
        applied = []
        for index, codec in enumerate(self._inner):
            if not mask >> index & 1:
                continue
            if codec is None:
                definition: Any = self.codecs[index]
                raise ChunkDecodeError(
                    f"the codec {definition.name!r} was applied to the chunk, but it is unknown",
                    _NAME,
                )
            applied.append((codec, size))
            size = None if size is None else codec.encoded_size(size)
        return view[self._header :], applied

    @property
    def _header(self) -> int:
        """Size of the header in bytes."""
        bits = len(self.codecs) if self.header_bits is None else self.header_bits
        return -(-bits // _BYTE)

    @property
    def _inner(self) -> Codecs:
        assert self._codecs is not None
        return self._codecs

    def __hash__(self) -> int:
        return hash((len(self.codecs), self.header_bits))  # definitions are not hashable


def _parse_codecs(codecs: Sequence[CodecLike]) -> tuple[tuple[ExtensionDefinition, ...], Codecs]:
    """Return definitions and codecs for the ``codecs`` that a user passes."""
    items = [
        ExtensionDefinition.from_json(dict(item)) if isinstance(item, Mapping) else item
        for item in codecs
    ]
    try:
        chain = CodecChain.of("bytes", *items)  # a chain requires "bytes"; removed below
    except CodecChainError as error:
        raise ValueError(f"codecs must all be bytes -> bytes codecs: {error}") from error
    created: Any = chain.codecs[1:]
    return chain.definitions[1:], created
