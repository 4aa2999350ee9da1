"""Strict JSON: what RFC 8259 permits and requires, with the exact text of decimal numbers."""

from __future__ import annotations

import json
from typing import Any

from zarr_conformance.evaluation.stored_data.errors import StoredDataError


class JSONFloat(float):
    """A number with a fraction or an exponent, which keeps its text."""

    text: str


def parse_json(data: bytes, key: str) -> Any:
    """Parse a metadata document.

    Parameters
    ----------
    data : bytes
        The document.
    key : str
        Its key, for errors.

    Raises
    ------
    StoredDataError
        If it is not UTF-8, begins with a byte order mark, contains ``NaN`` or ``Infinity`` as
        numbers or an object with two members of one name, or is not JSON.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise StoredDataError(f"{key} begins with a byte order mark")
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_float=_number,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        raise StoredDataError(f"{key} is not valid JSON: {error}") from error


def _number(text: str) -> JSONFloat:
    number = JSONFloat(text)
    number.text = text
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"an object with two members of one name: {[name for name, _ in pairs]}")
    return members
