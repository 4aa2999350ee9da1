"""Adapter for chunk key encodings of zarr-python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any, ClassVar, cast

from zarr.core.chunk_key_encodings import ChunkKeyEncoding as TheirEncoding
from zarr_core.extension import ChunkKeyEncoding, ExtensionDefinition, strictjson

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.extension import Provider

_NUMBER = re.compile(r"[0-9]+")
_MOST = 720  # permutations of the numbers in a key that are tried


def adapt(provider: Provider, foreign: Any) -> type[ChunkKeyEncoding]:
    """Return a class that wraps a chunk key encoding class of zarr-python."""
    return _adapt_class(provider.name, foreign)


@cache
def _adapt_class(name: str, library: Any) -> type[ChunkKeyEncoding]:
    if not isinstance(library, type) or not issubclass(library, TheirEncoding):
        raise TypeError(f"{library!r} is not a subclass of ChunkKeyEncoding of zarr-python")
    return type(f"ZarrPython_{name}", (ForeignEncoding,), {"__slots__": (), "library": library})


@dataclass(frozen=True, slots=True)
class ForeignEncoding(ChunkKeyEncoding):
    """A chunk key encoding of zarr-python."""

    library: ClassVar[Any] = None

    encoding: Any
    name: str

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        data = {"name": definition.name, "configuration": dict(definition.configuration)}
        return cls(cls.library.from_dict(data), definition.name)

    def to_definition(self) -> ExtensionDefinition:
        data = self.encoding.to_dict()
        configuration: Any = strictjson.plain(data.get("configuration") or {}, self.name)
        return ExtensionDefinition(self.name, configuration)

    def encode(self, chunk: tuple[int, ...]) -> str:
        return cast("str", self.encoding.encode_chunk_key(chunk))

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Return the chunk coordinates of a key, or None.

        Few classes of zarr-python can decode keys.  For the others all permutations of the
        numbers in the key are encoded and compared.  Keys with adjacent or hashed
        coordinates are therefore not recognized.
        """
        for chunk in self._candidates(key, ndim):
            try:
                if self.encode(chunk) == key:
                    return chunk
            except (TypeError, ValueError, LookupError):  # not valid coordinates
                continue
        return None

    def _candidates(self, key: str, ndim: int) -> Iterator[tuple[int, ...]]:
        if type(self.encoding).decode_chunk_key is not TheirEncoding.decode_chunk_key:
            try:
                yield tuple(map(int, self.encoding.decode_chunk_key(key)))
            except Exception:  # third-party code raises anything for other keys
                return
            return
        numbers = [int(text) for text in _NUMBER.findall(key) if len(text) < 20]
        yield from islice(permutations(numbers, ndim), _MOST)
