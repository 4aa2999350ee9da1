"""suffix chunk key encoding: the keys of another encoding with a suffix.

Name:           suffix
Specification:  zarr-extensions, pull request 28 (a proposal), chunk-key-encodings/suffix
Configuration:  {"suffix": ".tiff", "base_encoding": {"name": "default"}}
Schema:         schemas/chunk_key_encoding/suffix.json
"""

from __future__ import annotations

from dataclasses import dataclass

from zarr_core.extension import (
    ChunkKeyEncoding,
    ExtensionConfigurationError,
    ExtensionDefinition,
    Location,
    ValidationProblem,
    create_extension,
)

from zarr_grids._keys import check_example, check_text


@dataclass(frozen=True, slots=True)
class SuffixEncoding(ChunkKeyEncoding):
    """Chunk keys with a suffix, such as a file name extension.

    Parameters
    ----------
    base : ChunkKeyEncoding
        Encoding of the keys without the suffix.
    suffix : str
        Text that is appended to the keys.
    """

    base: ChunkKeyEncoding
    suffix: str

    def __post_init__(self) -> None:
        check_text(self.suffix, "the suffix")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> SuffixEncoding:
        suffix = definition.configuration.get("suffix")
        if not isinstance(suffix, str):
            raise ExtensionConfigurationError(
                "chunk_key_encoding",
                definition.name,
                "",
                [ValidationProblem("/configuration/suffix", "must be a string")],
            )
        base = definition.configuration.get("base_encoding")
        pointer = "/configuration/base_encoding"
        if not isinstance(base, str | dict):
            problem = ValidationProblem(pointer, "must be a chunk key encoding")
            raise ExtensionConfigurationError("chunk_key_encoding", definition.name, "", [problem])
        inner = ExtensionDefinition.from_json(base)
        encoding = create_extension("chunk_key_encoding", inner, Location(pointer=pointer))
        assert encoding is not None, "a chunk key encoding is never ignored"
        return cls(encoding, suffix)

    def to_definition(self) -> ExtensionDefinition:
        base = self.base.to_definition().to_json()
        return ExtensionDefinition("suffix", {"suffix": self.suffix, "base_encoding": base})

    def check(self, counts: tuple[int, ...]) -> None:
        self.base.check(counts)
        check_example(self.encode((0,) * len(counts)))

    def encode(self, chunk: tuple[int, ...]) -> str:
        return self.base.encode(chunk) + self.suffix

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        if not key.endswith(self.suffix):
            return None
        return self.base.decode(key.removesuffix(self.suffix), ndim)
