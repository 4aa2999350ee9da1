"""Encode bytes in JSON, as a base64 string or a list of integers."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import JSON


def bytes_from_json(value: JSON, what: str) -> bytes:
    """Decode a base64 string (RFC 4648, section 4, with padding), or a list of integers from 0 to 255.

    Raises ValueError with the name ``what`` of the value if it is neither.
    """
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            pass
    elif isinstance(value, list) and all(type(item) is int and 0 <= item <= 255 for item in value):
        return bytes(value)  # type: ignore[arg-type]  # checked above
    raise ValueError(
        f"{what} must be a base64 string or a list of integers from 0 to 255, not {value!r}"
    )


def bytes_to_json(value: bytes) -> JSON:
    """Encode bytes in base64, which every reader supports."""
    return base64.b64encode(value).decode("ascii")
