"""Adapters for codecs of zarr-python."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr_core.errors import CodecChainError, CodecError
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    Codec,
    strictjson,
)

from zarr_bridge import calls
from zarr_bridge.specs import grid_of, representation_of, spec_of

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from zarr.core.array_spec import ArraySpec
    from zarr_core.extension import JSON, ArrayRepresentation, Buffer, ExtensionDefinition, Provider

    Array = np.ndarray[Any, Any]


def adapt(provider: Provider, foreign: Any) -> type[Codec]:
    """Return a codec class that wraps a codec class of zarr-python."""
    return _adapt_class(provider.name, foreign)


@cache
def _adapt_class(name: str, library: Any) -> type[Codec]:
    for theirs, ours in _KINDS.items():
        if isinstance(library, type) and issubclass(library, theirs):
            return cast(
                "type[Codec]",
                type(
                    f"ZarrPython_{name}",
                    (ours,),
                    {"__slots__": (), "library": library, "registered_name": name},
                ),
            )
    raise TypeError(f"{library!r} is not a subclass of a codec class of zarr-python")


def _from_definition(library: Any, definition: ExtensionDefinition) -> Any:
    """Create a codec from the object in the document, as zarr-python does."""
    document = deepcopy(definition.to_json())  # some classes change it
    try:
        return library.from_dict(document if isinstance(document, dict) else {"name": document})
    except Exception:  # third-party code may raise anything
        if definition.configuration:
            raise
        # Many classes require a configuration, even an empty one; others do not accept it.
        try:
            return library.from_dict({"name": definition.name, "configuration": {}})
        except Exception:
            pass
        raise


def _configuration(codec: Any) -> dict[str, JSON]:
    data = codec.to_dict()
    plain = strictjson.plain(data.get("configuration") or {}, "codec")
    return cast("dict[str, JSON]", plain)


# A codec prepared for some chunks, and the ArraySpec of these chunks.
_Pair = tuple[Any, "ArraySpec"]
_Memory = dict["ArrayRepresentation", _Pair]
_MOST = 64


def _prepare(memory: _Memory, codec: Any, decoded: ArrayRepresentation) -> _Pair:
    """Return the codec prepared for a chunk as in zarr-python, and the ArraySpec of the chunk.

    ValueError if the codec does not support the chunk.
    """
    if known := memory.get(decoded):
        return known
    spec = spec_of(decoded)
    try:
        evolved = codec.evolve_from_array_spec(spec)
        evolved.validate(shape=spec.shape, dtype=spec.dtype, chunk_grid=grid_of(spec.shape))
    except Exception as error:  # third-party code may raise anything
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if len(memory) >= _MOST:
        memory.clear()
    memory[decoded] = evolved, spec
    return evolved, spec


def _completed(codec: Any, decoded: ArrayRepresentation) -> Any:
    """Return the codec with the parameters that depend on the chunk.

    Raises a CodecChainError if the codec does not support the chunk.
    """
    try:
        return _prepare({}, codec, decoded)[0]
    except ValueError as error:
        name = codec.to_dict()["name"]
        raise CodecChainError(
            f"the codec {name!r} does not support chunks of shape {decoded.shape}, "
            f"data type {decoded.data_type.to_definition().name}: {error}"
        ) from error


class _ForeignCodec:
    """What the adapters of the three kinds of codecs have in common; ``library`` is the class."""

    __slots__ = ()
    library: ClassVar[Any] = None

    codec: Any

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        codec: Any = cls
        return cast("Self", codec(_from_definition(cls.library, definition)))

    def to_configuration(self) -> dict[str, JSON]:
        return _configuration(self.codec)

    @property
    def max_concurrency(self) -> int | None:
        return calls.max_concurrency(self.codec)

    def complete(self, decoded: ArrayRepresentation) -> Self:
        adapter: Any = self
        return cast("Self", replace(adapter, codec=_completed(self.codec, decoded)))


@dataclass(frozen=True, slots=True)
class ForeignArrayToArray(_ForeignCodec, ArrayToArrayCodec):
    """An array -> array codec of zarr-python."""

    codec: Any
    _memory: _Memory = field(default_factory=dict, init=False, repr=False, compare=False)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        codec, spec = _prepare(self._memory, self.codec, decoded)
        return representation_of(codec.resolve_metadata(spec))

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        codec, spec = _prepare(self._memory, self.codec, decoded)
        return calls.array_of(calls.encode(codec, calls.ndbuffer_of(array), spec))

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        codec, spec = _prepare(self._memory, self.codec, decoded)
        result = calls.decode(codec, calls.ndbuffer_of(array), spec)
        return calls.elements_of(result, decoded.data_type.numpy_dtype)


@dataclass(frozen=True, slots=True)
class ForeignArrayToBytes(_ForeignCodec, ArrayToBytesCodec):
    """An array -> bytes codec of zarr-python.

    Notes
    -----
    Partial decoding and encoding of the codec are not used.
    """

    codec: Any
    _memory: _Memory = field(default_factory=dict, init=False, repr=False, compare=False)

    def check(self, decoded: ArrayRepresentation) -> None:
        _prepare(self._memory, self.codec, decoded)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Buffer | None:
        codec, spec = _prepare(self._memory, self.codec, decoded)
        encoded = calls.encode(codec, calls.ndbuffer_of(array), spec)
        return None if encoded is None else calls.bytes_of(encoded)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        codec, spec = _prepare(self._memory, self.codec, decoded)
        result = calls.decode(codec, calls.buffer_of(data), spec)
        return calls.elements_of(result, decoded.data_type.numpy_dtype)


@dataclass(frozen=True, slots=True)
class ForeignBytesToBytes(_ForeignCodec, BytesToBytesCodec):
    """A bytes -> bytes codec of zarr-python."""

    codec: Any
    _spec: ArraySpec | None = field(default=None, repr=False, compare=False)

    def prepare(self, decoded: ArrayRepresentation) -> Self:
        """The codec with the specification of the chunk, which zarr-python passes in each call."""
        return type(self)(*_prepare({}, self.codec, decoded))

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        return calls.bytes_of(calls.encode(self.codec, calls.buffer_of(data), self._chunk_spec()))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        return calls.bytes_of(calls.decode(self.codec, calls.buffer_of(data), self._chunk_spec()))

    def _chunk_spec(self) -> ArraySpec:
        if self._spec is None:
            raise CodecError(
                f"{self.codec!r} is used without the shape and the data type of a chunk"
            )
        return self._spec


_KINDS: dict[type[Any], type[Codec]] = {
    ArrayArrayCodec: ForeignArrayToArray,
    ArrayBytesCodec: ForeignArrayToBytes,
    BytesBytesCodec: ForeignBytesToBytes,
}
