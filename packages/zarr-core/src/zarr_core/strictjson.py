"""JSON as RFC 8259 has it, in or out, with nothing guessed.

The standard library's parser takes ``NaN`` tokens, keeps the last of repeated
keys, guesses the encoding, and gives up on deep nesting with a bare
``RecursionError``.  A metadata document that needs any of this is damaged or
dangerous, so it is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.errors import MetadataDecodeError, MetadataValidationError
from zarr_core.metadata.problem import Problem, json_pointer

if TYPE_CHECKING:
    from zarr_core.definition import JSON

__all__ = ["MAX_DEPTH", "dumps", "encode", "identical", "loads", "plain"]

MAX_DEPTH = 256
"""Arrays and objects within each other that a document may have."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NOT_BRACKET = re.compile(r"[^\[\]{}]+")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


class _RefusedError(Exception):
    """The text is not what we take; :func:`_explain` finds out where and why."""


class _Bad:
    """Stands in a parsed document for a token that is refused."""

    def __init__(self, message: str) -> None:
        self.message = message


class _Object(dict[str, Any]):
    """An object that remembers which of its keys were repeated."""

    repeated: tuple[str, ...] = ()


def loads(
    data: bytes | bytearray | memoryview | str, where: str = "document", *, constants: bool = False
) -> JSON:
    """Parse a document.

    Parameters
    ----------
    data : bytes-like or str
        The document, in UTF-8 without byte order mark.
    where : str
        What the document is, for errors.
    constants : bool
        Take the tokens ``NaN``, ``Infinity`` and ``-Infinity``, which are not JSON but
        stand in documents of Zarr versions 1 and 2.  :func:`encode` writes them again.

    Returns
    -------
    JSON
        Integers are exact, whatever their size.

    Raises
    ------
    MetadataDecodeError
        If it is not UTF-8 or not JSON, repeats a key in an object, has ``NaN`` or
        ``Infinity`` as a token, nests deeper than :data:`MAX_DEPTH`, or has an
        integer of thousands of digits or a number beyond the range of float64.
    """
    if not isinstance(data, str):
        try:
            text = str(data, "utf-8")
        except UnicodeDecodeError as error:
            hint = "; it looks like UTF-16" if bytes(data[:2]) in (b"\xff\xfe", b"\xfe\xff") else ""
            _fail(where, f"not UTF-8 at byte {error.start}{hint}", error)
    else:
        text = data
    if text.startswith("\ufeff"):
        _fail(where, "begins with a byte order mark, which JSON does not allow")
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        _fail(where, f"arrays and objects are nested more than {MAX_DEPTH} deep")
    try:
        value: JSON = (_LENIENT if constants else _DECODER).decode(text)
    except json.JSONDecodeError as error:
        _fail(where, _syntax(error), error)
    except RecursionError as error:  # the caller's stack was nearly full already
        _fail(where, "arrays and objects are nested too deep for the stack that is left", error)
    except (_RefusedError, ValueError) as error:
        problems = _explain(text)
        raise MetadataDecodeError(where, problems or [Problem("", str(error))]) from None
    return value


def dumps(document: Any, where: str = "document") -> bytes:
    """Write a document: UTF-8, indented by two spaces, as other writers do.

    Parameters
    ----------
    document : JSON
        The document; what :func:`plain` converts is converted.
    where : str
        What the document is, for errors.

    Raises
    ------
    MetadataValidationError
        If a value has no JSON form, with the JSON pointer of each.
    """
    return encode(plain(document, where))


def encode(document: JSON) -> bytes:
    """Write a document that is plain already, as :func:`plain` and :func:`loads` give it."""
    try:
        return json.dumps(document, indent=2, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair: only an escape can say it
        return json.dumps(document, indent=2).encode()


def plain(value: Any, where: str = "document", pointer: str = "") -> JSON:
    """Make a value what :func:`loads` would have given: a copy of plain JSON types.

    NumPy scalars become numbers, strings or booleans, NumPy arrays and tuples
    become lists, other mappings become ``dict``.

    Parameters
    ----------
    value : object
        The value.
    where, pointer : str
        What the document is, and where in it the value stands, for errors.

    Raises
    ------
    MetadataValidationError
        If a part has no JSON form: NaN, infinities, keys that are not strings,
        objects of other types, nesting deeper than :data:`MAX_DEPTH`.
    """
    problems: list[Problem] = []
    result: JSON = _plain(value, pointer, 0, problems)
    if problems:
        raise MetadataValidationError(where, problems)
    return result


def identical(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are the same, where ``1``, ``1.0`` and ``true`` are not.

    The order of members does not matter.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            identical(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, float) and isinstance(other, float):
        same = one == other or (one != one and other != other)
        return same and math.copysign(1, one) == math.copysign(1, other)
    return one == other


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError
    return members


def _constant(token: str) -> NoReturn:
    raise _RefusedError(token)


def _number(token: str) -> float:
    number = float(token)
    if math.isinf(number):
        raise _RefusedError(token)
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_constant=_constant, parse_float=_number
)
_LENIENT = json.JSONDecoder(object_pairs_hook=_members, parse_float=_number)


def _fail(where: str, message: str, cause: Exception | None = None) -> NoReturn:
    raise MetadataDecodeError(where, [Problem("", message)]) from cause


def _syntax(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "the document is empty"
    message = error.msg[:1].lower() + error.msg[1:]
    return f"{message} (line {error.lineno}, column {error.colno}, character {error.pos})"


def _depth(text: str) -> int:
    brackets = _NOT_BRACKET.sub("", _STRING.sub("", text))
    return max(accumulate(_STEP[bracket] for bracket in brackets), default=0)


def _explain(text: str) -> list[Problem]:
    """Parse again, taking everything, to say where the refused parts are."""

    def members(pairs: list[tuple[str, Any]]) -> _Object:
        found = _Object(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            found.repeated = tuple(name for name in found if names.count(name) > 1)
        return found

    def constant(token: str) -> _Bad:
        return _Bad(f"{token} is not JSON; where a fill value is meant, it is the string {token!r}")

    def integer(token: str) -> int | _Bad:
        try:
            return int(token)
        except ValueError:
            return _Bad(f"an integer of {len(token.lstrip('-'))} digits is more than can be read")

    def number(token: str) -> float | _Bad:
        if math.isinf(float(token)):
            return _Bad(f"{token[:40]} is beyond the range of 64-bit floating-point numbers")
        return float(token)

    problems: list[Problem] = []
    try:
        document = json.loads(
            text,
            object_pairs_hook=members,
            parse_constant=constant,
            parse_int=integer,
            parse_float=number,
        )
    except json.JSONDecodeError as error:  # behind the part that was refused first
        return [Problem("", _syntax(error))]
    _collect(document, "", problems)
    return problems


def _collect(value: Any, pointer: str, problems: list[Problem]) -> None:
    if isinstance(value, _Bad):
        problems.append(Problem(pointer, value.message))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _collect(item, f"{pointer}/{position}", problems)
    elif isinstance(value, _Object):
        problems.extend(
            Problem(pointer + json_pointer(name), f"the key {name!r} is there more than once")
            for name in value.repeated
        )
        for name, item in value.items():
            _collect(item, pointer + json_pointer(name), problems)


def _plain(value: Any, pointer: str, depth: int, problems: list[Problem]) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float and math.isfinite(value):
        return value
    if depth >= MAX_DEPTH:
        message = f"arrays and objects are nested more than {MAX_DEPTH} deep, or within themselves"
        problems.append(Problem(_shortened(pointer), message))
        return None
    if isinstance(value, Mapping):
        return _plain_object(value, pointer, depth, problems)
    if isinstance(value, (list, tuple)):
        return [
            _plain(item, f"{pointer}/{position}", depth + 1, problems)
            for position, item in enumerate(value)
        ]
    if kind is not float and (converted := _converted(value)) is not value:
        return _plain(converted, pointer, depth + 1, problems)
    if kind is float:
        problems.append(
            Problem(
                pointer,
                f"{value!r} is not JSON; fill values say it as a string "
                '("NaN", "Infinity", "-Infinity")',
            )
        )
    else:
        problems.append(Problem(pointer, f"a value of type {kind.__qualname__} has no JSON form"))
    return None


def _plain_object(
    value: Mapping[Any, Any], pointer: str, depth: int, problems: list[Problem]
) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, item in value.items():
        if not isinstance(name, str):
            message = f"the key {name!r} is not a string, which JSON demands of keys"
            problems.append(Problem(pointer, message))
            continue
        text = name if type(name) is str else str.__str__(name)
        members[text] = _plain(item, pointer + json_pointer(text), depth + 1, problems)
    return members


def _converted(value: Any) -> Any:
    """One step nearer to plain JSON, or the value itself if there is no such step."""
    for base in (str, int, float):
        if isinstance(value, base):  # a subclass: an enumeration, numpy.float64, numpy.str_
            return base.__str__(value) if base is str else base(value)
    # NumPy scalars and arrays, without importing NumPy.
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return value


def _shortened(pointer: str) -> str:
    return pointer if len(pointer) <= 80 else pointer[:80].rpartition("/")[0] + "/..."
