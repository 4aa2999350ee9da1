"""Chunk key encodings written for zarr-python, as those here."""

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
_MOST = 720  # arrangements of the numbers in a key that are tried


def adapt(provider: Provider, found: Any) -> type[ChunkKeyEncoding]:
    """Make a chunk key encoding here of one for zarr-python."""
    return _adapted(provider.name, found)


@cache
def _adapted(name: str, library: Any) -> type[ChunkKeyEncoding]:
    if not isinstance(library, type) or not issubclass(library, TheirEncoding):
        raise TypeError(f"{library!r} is not derived from zarr-python's ChunkKeyEncoding")
    return type(f"ZarrPython_{name}", (ForeignEncoding,), {"__slots__": (), "library": library})


@dataclass(frozen=True, slots=True)
class ForeignEncoding(ChunkKeyEncoding):
    """A chunk key encoding of zarr-python.

    Parameters
    ----------
    encoding : zarr.core.chunk_key_encodings.ChunkKeyEncoding
        The encoding.
    name : str
        Its name in metadata.
    """

    library: ClassVar[Any] = None

    encoding: Any
    name: str

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        described = {"name": definition.name, "configuration": dict(definition.configuration)}
        return cls(cls.library.from_dict(described), definition.name)

    def to_definition(self) -> ExtensionDefinition:
        described = self.encoding.to_dict()
        configuration: Any = strictjson.plain(described.get("configuration") or {}, self.name)
        return ExtensionDefinition(self.name, configuration)

    def encode(self, chunk: tuple[int, ...]) -> str:
        return cast("str", self.encoding.encode_chunk_key(chunk))

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Find the coordinates that are encoded to the key.

        Notes
        -----
        Few classes can decode.  For the others the numbers in the key are tried,
        in every order; keys in which numbers touch, or that hash them, are taken for
        no chunk's.
        """
        for chunk in self._candidates(key, ndim):
            try:
                if self.encode(chunk) == key:
                    return chunk
            except (TypeError, ValueError, LookupError):  # not coordinates that it takes
                continue
        return None

    def _candidates(self, key: str, ndim: int) -> Iterator[tuple[int, ...]]:
        if type(self.encoding).decode_chunk_key is not TheirEncoding.decode_chunk_key:
            try:
                yield tuple(map(int, self.encoding.decode_chunk_key(key)))
            except Exception:  # of anybody's code, which has seen no chunk's key
                return
            return
        numbers = [int(text) for text in _NUMBER.findall(key) if len(text) < 20]
        yield from islice(permutations(numbers, ndim), _MOST)
