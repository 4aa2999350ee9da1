"""Strict JSON (RFC 8259).

Unlike the standard library, the parser rejects ``NaN`` tokens, repeated keys, encodings other than
UTF-8 and deep nesting.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.decimal_number import (
    SPLITTER,
    SURELY_EXACT,
    DecimalNumber,
    decimal_of,
    round_to_odd,
)
from zarr_core.errors import MetadataDecodeError, MetadataValidationError
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer, pointer_below
from zarr_core.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from zarr_core.definition import JSON
    from zarr_core.location import Location

__all__ = [
    "MAX_DEPTH",
    "DecimalNumber",
    "NonFinite",
    "dumps",
    "encode",
    "identical",
    "keep_nonfinite",
    "loads",
    "plain",
    "plain_floats",
    "round_to_odd",
]

MAX_DEPTH = 256
"""Maximum nesting of arrays and objects."""

# A string without an end extends to the end of the text; possessive, for linear time.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKET = re.compile(r"[^\[\]{}]+")
_OTHER_CONTENTS = {
    "UTF-16": r"\xff\xfe|\xfe\xff",
    "a page of HTML or XML: check the address, or log in": r"\s*<[!?A-Za-z]",
    "a pointer of Git LFS: git lfs pull gets the document": r"version https://git-lfs",
    "a link of git-annex: git annex get gets the document": r"[^\n]{0,500}annex/objects/",
    "a file with a merge conflict: resolve it": r"(?:(?s:.*)\n)?<{7} ",
    "gzip or other compressed data: decompress it": r"\x1f\x8b|\x28\xb5\x2f\xfd|BZh|\xfd7zXZ|PK\x03",
    "zeros, as after a crash: restore the document": r"\0+\Z",
}
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
_BLOCK = 1 << 12  # brackets that are counted before the depth is compared
_SHORT = 16  # length of a list up to which encoding single items is faster
_LITERALS = {None: "null", True: "true", False: "false"}


class NonFinite(float):
    """NaN or an infinity that is a token in a JSON document, which RFC 8259 does not allow.

    Other writers store such tokens in attributes.  :func:`plain` keeps these numbers and rejects
    other floats that are not finite.
    """

    __slots__ = ()


class EncodedText(str):
    """JSON text of a part of a document, with its indentation; :func:`encode` does not change it."""

    __slots__ = ()


# Types that plain() keeps; types that json.dumps() and encode() write in the same way.
_KEPT = frozenset([str, int, bool, type(None), DecimalNumber, NonFinite])
_KEPT_OR_FLOAT = _KEPT | {float}
_SCALARS = frozenset([str, int, bool, type(None), float, NonFinite])


class _RejectedError(Exception):
    """The text is rejected; :func:`_explain` returns the problems."""


class _Bad:
    """Placeholder for a rejected token in a parsed document."""

    def __init__(self, message: str) -> None:
        self.message = message


class _Object(dict[str, Any]):
    """An object with its repeated keys."""

    repeated: tuple[str, ...] = ()


def loads(
    data: bytes | bytearray | memoryview | str,
    location: Location | str = "document",
    *,
    constants: bool = False,
) -> JSON:
    """Parse a document.

    Parameters
    ----------
    data : bytes-like or str
        The document, in UTF-8 without byte order mark.
    location : Location or str
        Name of the document, for errors.
    constants : bool
        Accept the tokens ``NaN``, ``Infinity`` and ``-Infinity``, which are not JSON but are used
        in Zarr versions 1 and 2.  :func:`encode` writes them.

    Returns
    -------
    JSON
        Integers of any size are exact.  Other numbers are ``float``, or :class:`DecimalNumber` if
        the text is needed to round to a narrower type.

    Raises
    ------
    MetadataDecodeError
        If the document is not UTF-8 or not JSON, repeats a key in an object, has a token ``NaN``
        or ``Infinity``, nests deeper than :data:`MAX_DEPTH`, or has an integer of thousands of
        digits or a number beyond the range of float64.
    """
    if not isinstance(data, str):
        try:
            text = str(data, "utf-8")
        except UnicodeDecodeError as error:
            _fail(location, f"not UTF-8 at byte {error.start}{_other_contents(data)}", error)
    else:
        text = data
    if text.startswith("\ufeff"):
        _fail(location, "begins with a byte order mark, which JSON does not allow")
    try:
        value: JSON = _DECODERS[constants].decode(text)
        if _count_keys(value, 0) != _most_keys(text):  # rare: a key may be repeated
            value = _CHECKING_DECODERS[constants].decode(text)
    except json.JSONDecodeError as error:
        _fail(location, _syntax(error) + _other_contents(data), error)
    except RecursionError as error:
        if _depth(text) > MAX_DEPTH:
            _fail(location, f"arrays and objects are nested more than {MAX_DEPTH} deep")
        # The stack of the caller is nearly full.
        _fail(location, "arrays and objects are nested too deep for the remaining stack", error)
    except (_RejectedError, ValueError) as error:
        problems = _explain(text)
        raise MetadataDecodeError(
            location, problems or [ValidationProblem("", str(error))]
        ) from None
    return value


def dumps(document: Any, location: Location | str = "document") -> bytes:
    """Encode a value, converted by :func:`plain`, as UTF-8, indented by two spaces.

    ``location`` is the name of the document, for errors.

    Raises
    ------
    MetadataValidationError
        If JSON cannot represent a value; has the JSON pointer of each.
    """
    return encode(plain(document, location))


def encode(document: JSON) -> bytes:
    """Encode a document from :func:`plain` or :func:`loads`."""
    try:
        return _text_of(document, encode_basestring).encode()
    except UnicodeEncodeError:  # half of a surrogate pair needs an escape
        return _text_of(document, encode_basestring_ascii).encode()


def plain(
    value: Any, location: Location | str = "document", pointer: str = "", *, depth: int = 0
) -> JSON:
    """Convert a value to plain JSON types, as :func:`loads` returns them.

    NumPy scalars become numbers, strings or booleans; NumPy arrays and tuples become lists; other
    mappings become ``dict``.  ``location`` and ``pointer``, the name of the document and the JSON
    pointer of the value, are used for errors.  ``depth`` is the nesting of the value in its
    document.

    Raises
    ------
    MetadataValidationError
        If JSON cannot represent a part: NaN, infinities, keys that are not strings, objects of
        other types, nesting deeper than :data:`MAX_DEPTH`.
    """
    problems: list[ValidationProblem] = []
    result: JSON = _plain(value, None, depth, problems)
    if problems:  # rare: convert again, with pointers
        problems = []
        _plain(value, pointer, depth, problems)
        raise MetadataValidationError(location, problems)
    return result


def keep_nonfinite(value: Any) -> Any:
    """Convert NaN and infinities to :class:`NonFinite`, which :func:`plain` keeps.

    Searches mappings, lists, tuples and NumPy objects.
    """
    return _kept(value, 0)


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


def _text_of(value: Any, quote: Callable[[str], str], line: str = "\n") -> str:
    """Return JSON text as ``json.dumps(value, indent=2)``; numbers keep their text."""
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is int:
        return int.__repr__(value)
    if kind is DecimalNumber:
        return str(value.text)
    if kind is float and math.isfinite(value):
        return float.__repr__(value)
    inner = line + "  "
    if isinstance(value, dict) and value:
        members = [
            f"{quote(name)}: {quote(item) if type(item) is str else _text_of(item, quote, inner)}"
            for name, item in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}"
    if isinstance(value, list) and value:
        if len(value) > _SHORT and _SCALARS.issuperset(map(type, value)):
            escaped = quote is encode_basestring_ascii
            text = json.dumps(value, ensure_ascii=escaped, separators=(f",{inner}", ""))
            return f"[{inner}{text[1:-1]}{line}]"
        # The two most frequent types without a call.
        items = [
            quote(item)
            if type(item) is str
            else int.__repr__(item)
            if type(item) is int
            else _text_of(item, quote, inner)
            for item in value
        ]
        return f"[{inner}{f',{inner}'.join(items)}{line}]"
    if kind is EncodedText:
        return str(value)
    return _LITERALS[value] if kind is bool or value is None else json.dumps(value, indent=2)


def _kept(value: Any, depth: int) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else NonFinite(value)
    if depth >= MAX_DEPTH:  # rejected by plain()
        return value
    if isinstance(value, Mapping):
        return {name: _kept(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(item, depth + 1) for item in value]
    # NumPy scalars and arrays, without importing NumPy; not dates and durations, which tolist
    # converts to an integer without a unit, or to an object of Python, depending on their unit.
    if (
        type(value).__module__.partition(".")[0] == "numpy"
        and hasattr(value, "tolist")
        and value.dtype.kind not in "mM"
    ):
        return _kept(value.tolist(), depth + 1)
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RejectedError
    return members


def _constant(token: str) -> NoReturn:
    raise _RejectedError(token)


def _number(token: str) -> float:
    number = float(token)
    split = number * SPLITTER
    if split - (split - number) != number:  # more than 25 bits, or infinite
        if number - number:  # NaN if it is infinite; faster than a call
            raise _RejectedError(token)
        return number
    if number and (len(token) > SURELY_EXACT or "e" in token or "E" in token):
        return DecimalNumber(token)
    return number


# Without and with the tokens NaN and Infinity.
_DECODERS = (
    json.JSONDecoder(parse_constant=_constant, parse_float=_number),
    json.JSONDecoder(parse_float=_number),
)
# These call a function for every object.
_CHECKING_DECODERS = (
    json.JSONDecoder(object_pairs_hook=_members, parse_constant=_constant, parse_float=_number),
    json.JSONDecoder(object_pairs_hook=_members, parse_float=_number),
)


def _most_keys(text: str) -> int:
    """Return the number of keys in a text; more if strings contain a quote and a colon."""
    data = text.encode("utf-8", "surrogatepass")
    return data.translate(None, b" \t\n\r").count(b'":')


def _count_keys(value: Any, depth: int) -> int:
    """Return the number of keys in a parsed value; raise a RecursionError above MAX_DEPTH."""
    is_object = type(value) is dict
    if not is_object and type(value) is not list:
        return 0
    if depth >= MAX_DEPTH:
        raise RecursionError
    count = len(value) if is_object else 0
    for item in value.values() if is_object else value:
        kind = type(item)
        if kind is dict or kind is list:
            count += _count_keys(item, depth + 1)
    return count


def _fail(location: Location | str, message: str, cause: Exception | None = None) -> NoReturn:
    raise MetadataDecodeError(location, [ValidationProblem("", message)]) from cause


def _other_contents(data: bytes | bytearray | memoryview | str) -> str:
    """Say what was stored instead of a document; empty if that is unknown."""
    text = data[:_BLOCK] if isinstance(data, str) else str(data[:_BLOCK], "latin-1")
    return next(
        (
            f"; it looks like {name}"
            for name, pattern in _OTHER_CONTENTS.items()
            if re.match(pattern, text)
        ),
        "",
    )


def _syntax(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "the document is empty"
    message = error.msg[:1].lower() + error.msg[1:]
    return f"{message} (line {error.lineno}, column {error.colno}, character {error.pos})"


def _depth(text: str) -> int:
    """Return the nesting depth of a text; counting stops above MAX_DEPTH."""
    brackets = _NOT_BRACKET.sub("", _STRING.sub("", text))
    deepest = depth = 0
    for start in range(0, len(brackets), _BLOCK):
        if deepest > MAX_DEPTH:
            break  # skip the rest
        steps = map(_STEP.__getitem__, brackets[start : start + _BLOCK])
        *depths, depth = accumulate(steps, initial=depth)
        deepest = max(deepest, depth, *depths)
    return deepest


def _explain(text: str) -> list[ValidationProblem]:
    """Parse without restrictions, and return the problems."""

    def members(pairs: list[tuple[str, Any]]) -> _Object:
        found = _Object(pairs)
        if len(found) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            found.repeated = tuple(name for name, count in counts.items() if count > 1)
        return found

    def constant(token: str) -> _Bad:
        return _Bad(f"{token} is not valid JSON; a fill value must be the string {token!r}")

    def integer(token: str) -> int | _Bad:
        try:
            return int(token)
        except ValueError:
            return _Bad(f"an integer of {len(token.lstrip('-'))} digits is too large")

    def number(token: str) -> float | _Bad:
        if math.isinf(float(token)):
            return _Bad(f"{token[:40]} is beyond the range of 64-bit floating-point numbers")
        return float(token)

    problems: list[ValidationProblem] = []
    try:
        document = json.loads(
            text,
            object_pairs_hook=members,
            parse_constant=constant,
            parse_int=integer,
            parse_float=number,
        )
    except json.JSONDecodeError as error:  # after the first rejected token
        return [ValidationProblem("", _syntax(error))]
    _collect(document, "", problems)
    return problems


def _collect(value: Any, pointer: str, problems: list[ValidationProblem]) -> None:
    if isinstance(value, _Bad):
        problems.append(ValidationProblem(pointer, value.message))
        return
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, list):
        items = enumerate(value)
    elif isinstance(value, _Object):
        problems.extend(
            ValidationProblem(pointer_below(pointer, name), f"the key {quoted(name)} is repeated")
            for name in value.repeated
        )
        items = value.items()
    for token, item in items:
        if isinstance(item, (_Bad, list, _Object)):
            _collect(item, pointer_below(pointer, token), problems)


def _plain(value: Any, pointer: str | None, depth: int, problems: list[ValidationProblem]) -> Any:
    """Convert a value; without a pointer, problems have no locations."""
    kind = type(value)
    if kind in _KEPT or (kind is float and math.isfinite(value)):
        return value
    if depth >= MAX_DEPTH:
        message = f"arrays and objects are nested more than {MAX_DEPTH} deep, or within themselves"
        problems.append(ValidationProblem(_shortened(pointer or ""), message))
        return None
    if isinstance(value, Mapping):
        return _plain_object(value, pointer, depth, problems)
    if isinstance(value, (list, tuple)):
        if _are_plain(value):
            return list(value)
        return [
            _plain(item, None if pointer is None else f"{pointer}/{position}", depth + 1, problems)
            for position, item in enumerate(value)
        ]
    if kind is not float and (converted := _converted(value)) is not value:
        return _plain(converted, pointer, depth + 1, problems)
    if kind is float:
        problems.append(
            ValidationProblem(
                pointer or "",
                f"{value!r} is not valid JSON; use None, or a string: "
                '"NaN", "Infinity", "-Infinity"',
            )
        )
    else:
        problems.append(
            ValidationProblem(
                pointer or "",
                f"a value of type {kind.__qualname__} cannot be represented in JSON; convert it to "
                "a string, a number, a list or a dictionary",
            )
        )
    return None


def _are_plain(values: Collection[Any]) -> bool:
    """Whether values are scalars that need no conversion; a fast test, in C."""
    kinds = {*map(type, values)}
    if float not in kinds:
        return kinds <= _KEPT
    if len(kinds) > 1:
        if not kinds <= _KEPT_OR_FLOAT:
            return False
        values = [value for value in values if type(value) is float]
    return all(map(math.isfinite, values))


def _plain_object(
    value: Mapping[Any, Any], pointer: str | None, depth: int, problems: list[ValidationProblem]
) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, item in value.items():
        if type(name) is str and type(item) in _KEPT:
            members[name] = item
            continue
        if not isinstance(name, str):
            message = f"the key {name!r} is not a string; JSON requires string keys"
            problems.append(ValidationProblem(pointer or "", message))
            continue
        text = name if type(name) is str else str.__str__(name)
        inner = None if pointer is None else pointer + json_pointer(text)
        members[text] = _plain(item, inner, depth + 1, problems)
    return members


def _converted(value: Any) -> Any:
    """Return a value converted one step towards plain JSON, or itself if impossible."""
    for base in (str, int, float):
        if isinstance(value, base):  # a subclass: an enumeration, numpy.float64, numpy.str_
            return base.__str__(value) if base is str else base(value)
    # NumPy scalars and arrays, without importing NumPy; not dates and durations, which tolist
    # converts to an integer without a unit, or to an object of Python, depending on their unit.
    if (
        type(value).__module__.partition(".")[0] == "numpy"
        and hasattr(value, "tolist")
        and value.dtype.kind not in "mM"
    ):
        converted = value.tolist()
        return value if type(converted) is type(value) else converted  # the same for long doubles
    return value


def _shortened(pointer: str) -> str:
    return pointer if len(pointer) <= 80 else pointer[:80].rpartition("/")[0] + "/..."
