"""Strict JSON (RFC 8259).

Unlike the standard library, the parser rejects ``NaN`` tokens, repeated keys, encodings other than
UTF-8 and deep nesting.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.definition import ReadOnlyDict, freeze
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataValidationError,
    ValidationProblem,
    json_pointer,
)
from zarr_core.messages import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from decimal import Decimal

    from zarr_core.definition import JSON
    from zarr_core.location import Location

MAX_DEPTH = 256
"""Maximum nesting of arrays and objects."""

_TOO_DEEP = f"arrays and objects are nested more than {MAX_DEPTH} deep"
# A tiny array takes 40 times as much memory as its text.
_CONTAINERS = 1 << 20  # arrays and objects that any document may have
_CONTAINER_CHARACTERS = 32  # on average, in a document with more
_OTHER_CONTENTS = {
    "UTF-16": r"\xff\xfe|\xfe\xff",
    "a page of HTML or XML: check the address, or log in": r"\s*<[!?A-Za-z]",
    "a pointer of Git LFS: git lfs pull gets the document": r"version https://git-lfs",
    "a link of git-annex: git annex get gets the document": r"[^\n]{0,500}annex/objects/",
    "a file with a merge conflict: resolve it": r"(?:(?s:.*)\n)?<{7} ",
    "gzip or other compressed data: decompress it": r"\x1f\x8b|\x28\xb5\x2f\xfd|BZh|\xfd7zXZ|PK\x03",
    "zeros, as after a crash: restore the document": r"\0+\Z",
}
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_TO_SQUARE, _NO_BRACKET = bytes.maketrans(b"{}", b"[]"), bytes({*range(256)} - {*b'[]{}"'})
_EXACT = 16  # characters of a number with at most 15 digits, which float64 keeps
_SPLITTER = 2.0**28 + 1


class DecimalNumber(float):
    """A number with its decimal text, which :func:`encode` writes.

    :func:`loads` returns it for a longer text with a value of at most 25 bits: only such a value
    can lie halfway between two values of a type narrower than float64 (see :func:`round_to_odd`).
    It compares and computes as its float64 value.
    """

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> DecimalNumber:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __reduce__(self) -> tuple[type[DecimalNumber], tuple[str]]:
        return DecimalNumber, (self.text,)


class NonFinite(float):
    """NaN or an infinity that is a token in a JSON document, which RFC 8259 does not allow.

    Other writers store such tokens in attributes.  :func:`plain` keeps these numbers and rejects
    other floats that are not finite.
    """

    __slots__ = ()


class EncodedObject(ReadOnlyDict):
    """An object that cannot be changed, of which :func:`encode` keeps the text."""

    __slots__ = ("text",)

    text: tuple[str, str]
    """The line break with the indentation of the object, and its text."""


_KEPT = frozenset(
    [str, int, bool, type(None), DecimalNumber, NonFinite, EncodedObject]
)  # by plain()


# --- reading ---


def loads(
    data: bytes | bytearray | memoryview | str,
    location: Location | str = "document",
    *,
    constants: bool = False,
) -> JSON:
    """Parse a document in UTF-8 without byte order mark; ``location`` is its name in errors.

    Integers of any size are exact.  Other numbers are ``float``, or :class:`DecimalNumber` if the
    text is needed to round to a narrower type.  ``constants`` accepts the tokens ``NaN``,
    ``Infinity`` and ``-Infinity``, which are not JSON but are used in Zarr versions 1 and 2;
    :func:`encode` writes them.

    Raises a MetadataDecodeError if the document is not UTF-8 or not JSON, repeats a key in an
    object, has such a token, nests deeper than :data:`MAX_DEPTH`, has millions of tiny arrays or
    objects, or has an integer of thousands of digits or a number beyond the range of float64.
    """
    try:
        text = data if isinstance(data, str) else str(data, "utf-8")
    except UnicodeDecodeError as error:
        _fail(location, f"not UTF-8 at byte {error.start}{_other_contents(data)}", error)
    if text.startswith("\ufeff"):
        _fail(location, "begins with a byte order mark, which JSON does not allow")
    containers = text.count("[") + text.count("{")
    if containers > max(_CONTAINERS, len(text) // _CONTAINER_CHARACTERS):
        message = (
            f"{containers:,} arrays and objects are too many; store their values in a Zarr array"
        )
        _fail(location, message)
    _found.rejected = False
    try:
        value: JSON = _DECODERS[constants].decode(text)
    except json.JSONDecodeError as error:
        _fail(location, _syntax(error) + _other_contents(data), error)
    except ValueError:  # an integer of thousands of digits
        value = _decoder(constants, parse_int=_integer).decode(text)
    except RecursionError as error:
        _fail(location, f"{_TOO_DEEP}, or too deep for the remaining stack", error)
    if containers > MAX_DEPTH and _is_too_deep(text):
        _fail(location, _TOO_DEEP)
    if _found.rejected:
        raise MetadataDecodeError(location, _problems(value))
    return value


class _Rejected:
    """Placeholder for a value that is not JSON, in a document that is parsed or converted."""

    def __init__(self, message: str) -> None:
        self.message = message
        _found.rejected = True


class _Found(threading.local):
    rejected = False  # whether the document of this thread has a placeholder


_found = _Found()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                members[name] = _Rejected(f"the key {quoted(name)} is repeated")
    return members


def _constant(token: str) -> _Rejected:
    return _Rejected(f"{token} is not valid JSON; a fill value must be the string {token!r}")


def _integer(token: str) -> int | _Rejected:
    try:
        return int(token)
    except ValueError:
        return _Rejected(f"an integer of {len(token.lstrip('-'))} digits is too large")


def _number(token: str) -> float | _Rejected:
    number = float(token)
    split = number * _SPLITTER
    if split - (split - number) != number:  # not the highest 25 bits (Veltkamp), or infinite
        if number - number:  # NaN if it is infinite; faster than a call
            message = f"{token[:40]} is beyond the range of 64-bit floating-point numbers"
            return _Rejected(message)
        return number
    return number if len(token) <= _EXACT else DecimalNumber(token)


def _decoder(constants: bool, **hooks: Any) -> json.JSONDecoder:
    if not constants:
        hooks["parse_constant"] = _constant
    return json.JSONDecoder(object_pairs_hook=_members, parse_float=_number, **hooks)


_DECODERS = _decoder(False), _decoder(True)


def _fail(location: Location | str, message: str, cause: Exception | None = None) -> NoReturn:
    raise MetadataDecodeError(location, [ValidationProblem("", message)]) from cause


def _other_contents(data: bytes | bytearray | memoryview | str) -> str:
    """Say what was stored instead of a document; empty if that is unknown."""
    text = data[:4096] if isinstance(data, str) else str(data[:4096], "latin-1")
    for name, pattern in _OTHER_CONTENTS.items():
        if re.match(pattern, text):
            return f"; it looks like {name}"
    return ""


def _syntax(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "the document is empty"
    message = error.msg[:1].lower() + error.msg[1:]
    return f"{message} (line {error.lineno}, column {error.colno}, character {error.pos})"


def _is_too_deep(text: str) -> bool:
    """Whether valid JSON nests deeper than MAX_DEPTH; faster than a search of the parsed document."""
    data = _ESCAPED.sub("", text).encode("utf-8", "surrogatepass")
    data = data.translate(_TO_SQUARE, _NO_BRACKET)
    brackets = re.sub(rb'"[^"]*"', b"", data.replace(b'""', b""))
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")  # the innermost level
    return bool(brackets)


_POINTER = 4000  # characters


def _problems(value: Any, pointer: str = "") -> Iterator[ValidationProblem]:
    """Yield a problem for each placeholder in a document, whose pointer is given."""
    if isinstance(value, _Rejected):
        yield ValidationProblem(pointer, value.message)
    items: Iterable[Any] = value.items() if isinstance(value, dict) else ()
    for token, item in enumerate(value) if isinstance(value, list) else items:
        if isinstance(item, (_Rejected, list, dict)):
            # Messages do not show more of a pointer, which would be copied for each item.
            is_long = len(pointer) > _POINTER
            yield from _problems(item, pointer if is_long else pointer + json_pointer(token))


# --- writing ---


def dumps(document: Any, location: Location | str = "document") -> bytes:
    """Encode a value as UTF-8, indented by two spaces; see :func:`plain` for errors."""
    return encode(plain(document, location))


def encode(document: JSON) -> bytes:
    """Encode a document from :func:`plain` or :func:`loads`."""
    # Only half of a surrogate pair has no UTF-8; its escape in Python is its escape in JSON.
    return _text_of(document).encode("utf-8", "backslashreplace")


def keep_texts(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members whose objects keep their text: if one is replaced, only it is encoded again."""
    return {
        name: EncodedObject(freeze(value)) if type(value) is dict else value
        for name, value in members.items()
    }


def _text_of(value: Any, line: str = "\n") -> str:
    """Return JSON text as ``json.dumps(value, indent=2)``; numbers keep their text."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int or (kind is float and math.isfinite(value)):
        return repr(value)
    if kind is EncodedObject:
        if getattr(value, "text", ("",))[0] != line:
            value.text = line, _text_of(dict(value), line)
        return str(value.text[1])
    inner = line + "  "
    if isinstance(value, dict) and value:
        members = [
            f"{encode_basestring(name)}: {_text_of(item, inner)}" for name, item in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}"
    if isinstance(value, list) and value:
        if {*map(type, value)} == {int} or _are_finite(value):
            items = map(repr, value)
        else:
            items = map(_text_of, value, repeat(inner))
        return f"[{inner}{f',{inner}'.join(items)}{line}]"
    if kind is DecimalNumber:
        return str(value.text)
    return json.dumps(value)


def plain(
    value: Any, location: Location | str = "document", pointer: str = "", *, depth: int = 0
) -> JSON:
    """Convert a value to plain JSON types, as :func:`loads` returns them.

    NumPy scalars become numbers, strings or booleans; NumPy arrays and tuples become lists; other
    mappings become ``dict``.  ``location`` and ``pointer``, the name of the document and the JSON
    pointer of the value, are used for errors.  ``depth`` is the nesting of the value in its
    document.

    Raises a MetadataValidationError with every part that JSON cannot represent: NaN, infinities,
    keys that are not strings, objects of other types, nesting deeper than :data:`MAX_DEPTH`.
    """
    _found.rejected = False
    result: JSON = _plain(value, depth)
    if _found.rejected:
        raise MetadataValidationError(location, _problems(result, pointer))
    return result


def _plain(value: Any, depth: int) -> Any:
    """Convert a value; what JSON cannot represent becomes a placeholder."""
    kind = type(value)
    if kind in _KEPT or (kind is float and math.isfinite(value)):
        return value
    if depth >= MAX_DEPTH:
        return _Rejected(f"{_TOO_DEEP}, or within themselves")
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(key, str):
                name = key if type(key) is str else str.__str__(key)
                members[name] = item if type(item) in _KEPT else _plain(item, depth + 1)
            else:
                message = f"the key {key!r} is not a string; JSON requires string keys"
                members[str(key)] = _Rejected(message)
        return members
    if isinstance(value, list | tuple):
        if {*map(type, value)} <= _KEPT or _are_finite(value):
            return list(value)
        return [item if type(item) in _KEPT else _plain(item, depth + 1) for item in value]
    if kind is float:
        return _Rejected(
            f'{value!r} is not valid JSON; use None, or a string: "NaN", "Infinity", "-Infinity"'
        )
    for base in (str, int, float):
        if isinstance(value, base):  # a subclass: an enumeration, numpy.float64, numpy.str_
            return _plain(base.__str__(value) if base is str else base(value), depth)
    if (converted := _from_numpy(value)) is not value:
        return _plain(converted, depth)
    return _Rejected(
        f"a value of type {kind.__qualname__} cannot be represented in JSON; convert it to "
        "a string, a number, a list or a dictionary"
    )


def _are_finite(values: Collection[Any]) -> bool:
    """Whether all values are finite floats; fast for large attributes."""
    return {*map(type, values)} == {float} and all(map(math.isfinite, values))


def _from_numpy(value: Any) -> Any:
    """Return the Python form of a scalar or array of NumPy, which is not imported; else the value."""
    # Not dates and durations, which tolist converts to an integer without a unit, or to an object
    # of Python, depending on their unit.
    if (
        type(value).__module__.partition(".")[0] == "numpy"
        and hasattr(value, "tolist")
        and value.dtype.kind not in "mM"
    ):
        converted = value.tolist()
        return value if type(converted) is type(value) else converted  # the same for long doubles
    return value


def keep_nonfinite(value: Any, depth: int = 0) -> Any:
    """Convert NaN and infinities to :class:`NonFinite`, which :func:`plain` keeps.

    Searches mappings, lists, tuples and NumPy objects.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else NonFinite(value)
    if depth >= MAX_DEPTH:  # rejected by plain()
        return value
    if isinstance(value, Mapping):
        return {name: keep_nonfinite(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [keep_nonfinite(item, depth + 1) for item in value]
    converted = _from_numpy(value)
    return value if converted is value else keep_nonfinite(converted, depth + 1)


# --- values ---


def plain_floats(value: JSON) -> Any:
    """Return a copy with plain floats for :class:`NonFinite` and :class:`DecimalNumber`."""
    if isinstance(value, dict):
        return {name: plain_floats(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain_floats(item) for item in value]
    return float(value) if isinstance(value, float) else value


def identical(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are identical; ``1``, ``1.0`` and ``true`` differ.

    The order of members does not matter.
    """
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            value is other[key] or identical(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(identical, one, other))
    if not isinstance(one, float) or not isinstance(other, float):
        return type(one) is type(other) and one == other
    if DecimalNumber in (type(one), type(other)):
        return decimal_of(one) == decimal_of(other)
    same = one == other or (one != one and other != other)
    return same and math.copysign(1, one) == math.copysign(1, other)


def decimal_of(number: float) -> Decimal:
    """Return the exact decimal number of a number from JSON."""
    from decimal import Decimal

    return Decimal(number.text if isinstance(number, DecimalNumber) else str(+number))


def is_whole(number: float) -> bool:
    """Whether a number from JSON is exactly an integer; not for ``-0.0``."""
    finite = math.isfinite(number) and str(number) != "-0.0"
    return finite and decimal_of(number) == int(number)


def round_to_odd(number: float) -> float:
    """Prepare a number of a document for rounding to a type of at most 50 significant bits.

    Rounding a decimal text to float64 and then to a narrower type is wrong if the float64 value
    lies halfway between two values of that type.  Rounding to float64 by the rule "round to odd"
    avoids that (Boldo and Melquiond, 2008).  Raises OverflowError for an integer beyond float64.
    """
    nearest, exact = float(number), decimal_of(number)
    if exact == nearest or nearest / math.ulp(nearest) % 2:
        return nearest
    return math.nextafter(nearest, math.inf if exact > nearest else -math.inf)
