"""numcodecs.json2 codec (array -> bytes): elements, dtype and shape as JSON.

Name:           numcodecs.json2
Specification:  numcodecs, "JSON"
Configuration:  {"encoding": "utf-8", "sort_keys": true, "separators": [",", ":"], ...}
Schema:         schemas/codec/numcodecs.json2.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs import _nested_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

_NAME = "numcodecs.json2"


@dataclass(frozen=True, slots=True)
class Json2Codec(ArrayToBytesCodec):
    """Store elements that JSON can represent.

    Parameters
    ----------
    encoding : str
        Encoding of the text.
    skipkeys, ensure_ascii, check_circular, allow_nan, sort_keys : bool
        As for :class:`json.JSONEncoder`.
    indent : int or str, optional
        Indentation; None writes a single line.
    separators : sequence of two str, optional
        Separators between items, and between key and value.  None is ``","`` and
        ``":"``, followed by a space if ``indent`` is given.
    strict : bool
        Whether control characters in strings raise an error when they are read.
    """

    encoding: str = "utf-8"
    skipkeys: bool = False
    ensure_ascii: bool = True
    check_circular: bool = True
    allow_nan: bool = True
    sort_keys: bool = True
    indent: int | str | None = None
    separators: Sequence[str] | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        try:
            "".encode(self.encoding)
        except LookupError as error:
            raise ValueError(f"encoding {self.encoding!r} is unknown") from error
        separators = self.separators
        if separators is None:
            separators = (",", ":") if self.indent is None else (", ", ": ")
        if len(separators) != 2:
            raise ValueError(f"separators must be two strings, not {separators!r}")
        object.__setattr__(self, "separators", tuple(separators))

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error for structured data types."""
        _nested_lists.reject_structured(decoded)

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration, with a JSON array."""
        configuration: dict[str, JSON] = {
            "encoding": self.encoding,
            "skipkeys": self.skipkeys,
            "ensure_ascii": self.ensure_ascii,
            "check_circular": self.check_circular,
            "allow_nan": self.allow_nan,
            "sort_keys": self.sort_keys,
            "separators": list(self.separators or ()),
            "strict": self.strict,
        }
        return configuration | ({} if self.indent is None else {"indent": self.indent})

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Write nested lists of elements, followed by dtype and shape."""
        return _encoder(self).encode(_nested_lists.to_items(array)).encode(self.encoding)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the elements."""
        try:
            items = _decoder(self.strict).decode(str(data, self.encoding))
        except RecursionError as error:
            raise ChunkDecodeError("the JSON is nested too deeply", _NAME) from error
        except ValueError as error:
            raise ChunkDecodeError(f"not valid JSON: {error}", _NAME) from error
        return _nested_lists.from_items(items, decoded, _NAME)


@lru_cache(maxsize=64)
def _encoder(codec: Json2Codec) -> json.JSONEncoder:
    separators = codec.separators or ("", "")
    return json.JSONEncoder(
        skipkeys=codec.skipkeys,
        ensure_ascii=codec.ensure_ascii,
        check_circular=codec.check_circular,
        allow_nan=codec.allow_nan,
        sort_keys=codec.sort_keys,
        indent=codec.indent,
        separators=(separators[0], separators[1]),
    )


@cache
def _decoder(strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(strict=strict)
