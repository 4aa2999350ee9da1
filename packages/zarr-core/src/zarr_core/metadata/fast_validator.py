"""JSON Schema compiled to a Python function, for fast validation without importing ``jsonschema``.

Values that it does not accept, and schemas with other keywords, are passed to
:mod:`zarr_core.metadata.schema`.  In both, unlike in JSON Schema, an integer has no fraction or
exponent; ``1.0`` is not an integer.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.definition import ReadOnlyDict, ReadOnlyList
from zarr_core.strictjson import DecimalNumber, EncodedObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Predicate: TypeAlias = Callable[[Any], bool]
    Compile: TypeAlias = Callable[[Any], Predicate]

_NUMBERS = (int, float, DecimalNumber)
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict, ReadOnlyDict, EncodedObject),
    "array": (list, ReadOnlyList),
    "string": (str,),
    "integer": (int,),
    "number": _NUMBERS,
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS = frozenset(
    [
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "title",
        "description",
        "examples",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "format",
        "contentEncoding",
        "contentMediaType",
    ]
)
# Keywords that compare a value of some types, or its length, with the value of the keyword.
_COMPARISONS: dict[str, tuple[tuple[type, ...], Callable[[Any, Any], bool]]] = {
    "minimum": (_NUMBERS, operator.ge),
    "maximum": (_NUMBERS, operator.le),
    "exclusiveMinimum": (_NUMBERS, operator.gt),
    "exclusiveMaximum": (_NUMBERS, operator.lt),
    "multipleOf": (_NUMBERS, lambda value, factor: not value % factor),
    "pattern": ((str,), lambda text, pattern: re.search(pattern, text) is not None),
    "uniqueItems": (_TYPES["array"], lambda items, wanted: not wanted or _all_different(items)),
}
_LENGTHS: dict[str, tuple[Any, Callable[[int, Any], bool]]] = {
    "minLength": (str, operator.ge),
    "maxLength": (str, operator.le),
    "minItems": (list, operator.ge),
    "maxItems": (list, operator.le),
    "minProperties": (dict, operator.ge),
    "maxProperties": (dict, operator.le),
}


def compile_schema(schema: Mapping[str, Any] | bool) -> Predicate | None:
    """Compile a schema to a function that returns whether a document of plain JSON types is valid.

    The schema is JSON Schema, draft 2020-12, with references only to its own ``$defs``.  None if it
    is invalid, or has a keyword that is not supported.
    """
    references: dict[str, list[Predicate]] = {}

    def compile_part(part: Any) -> Predicate:
        if isinstance(part, bool):
            return lambda _: part
        left = {key: value for key, value in part.items() if key not in _ANNOTATIONS}
        checks: list[Predicate] = []
        if "type" in left:
            checks.append(_type(left.pop("type")))
        for group, keywords in _GROUPS.items():
            if not keywords.isdisjoint(left):
                words = {word: left.pop(word) for word in keywords if word in left}
                checks.append(group(words, compile_part))
        if "$ref" in left:
            checks.append(refer(left.pop("$ref")))
        checks += [_check(keyword, wanted, compile_part) for keyword, wanted in left.items()]
        return checks[0] if len(checks) == 1 else _search(checks, False)

    def refer(reference: str) -> Predicate:
        if (known := references.get(reference)) is None:
            # Added before it is compiled: a schema may refer to itself.
            known = references[reference] = []
            known.append(compile_part(local_reference(schema, reference)))
        return known[0] if known else lambda value: known[0](value)

    try:
        check = compile_part(schema)
    except Exception:  # jsonschema says what is wrong
        return None

    def accept(value: Any) -> bool:
        try:
            return check(value)
        except RecursionError:
            return False  # jsonschema decides

    return accept


def local_reference(root: Any, reference: str) -> Any:
    """Return the target of a reference within a schema, such as ``"#/$defs/name"``."""
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    target = root
    for token in reference.split("/")[1:]:
        target = target[token.replace("~1", "/").replace("~0", "~")]
    return target


def _type(names: str | list[str]) -> Predicate:
    kinds = {kind for name in ([names] if type(names) is str else names) for kind in _TYPES[name]}
    if len(kinds) == 1:
        only = kinds.pop()
        return lambda value: type(value) is only
    return lambda value: type(value) in kinds


def _object(words: dict[str, Any], compile_part: Compile) -> Predicate:
    members = {name: compile_part(item) for name, item in words.get("properties", {}).items()}
    required = frozenset(words.get("required", ()))
    other = words.get("additionalProperties", True)
    rest = None if other is True else compile_part(other)

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        if not value.keys() >= required:
            return False
        for name, item in value.items():
            member = members.get(name, rest)
            if member is not None and not member(item):
                return False
        return True

    return check


def _array(words: dict[str, Any], compile_part: Compile) -> Predicate:
    first = [compile_part(item) for item in words.get("prefixItems", ())]
    each = compile_part(words.get("items", True))

    def check(value: Any) -> bool:
        if not isinstance(value, list):
            return True
        if not first:
            return all(map(each, value))
        begin = all(check(item) for check, item in zip(first, value, strict=False))
        return begin and all(map(each, value[len(first) :]))

    return check


def _contains(words: dict[str, Any], compile_part: Compile) -> Predicate:
    wanted, minimum = compile_part(words["contains"]), words.get("minContains", 1)
    maximum = words.get("maxContains", float("inf"))

    def check(value: Any) -> bool:
        if not isinstance(value, list):
            return True
        return bool(minimum <= sum(map(wanted, value)) <= maximum)

    return check


def _if(words: dict[str, Any], compile_part: Compile) -> Predicate:
    condition, then, other = (
        compile_part(words.get(word, True)) for word in ("if", "then", "else")
    )
    return lambda value: then(value) if condition(value) else other(value)


# Keywords that are compiled together; they accept values of other types than that they are for.
_GROUPS: dict[Callable[[dict[str, Any], Compile], Predicate], frozenset[str]] = {
    _object: frozenset(["properties", "required", "additionalProperties"]),
    _array: frozenset(["items", "prefixItems"]),
    _contains: frozenset(["contains", "minContains", "maxContains"]),
    _if: frozenset(["if", "then", "else"]),
}


def _check(keyword: str, wanted: Any, compile_part: Compile) -> Predicate:
    """Compile one of the other keywords."""
    if keyword in _COMPARISONS:
        types, compare = _COMPARISONS[keyword]
        compare(types[0](), wanted)  # an error if the keyword has a wrong type
        return lambda value: type(value) not in types or compare(value, wanted)
    if keyword in _LENGTHS:
        kind, compare = _LENGTHS[keyword]
        compare(0, wanted)
        return lambda value: not isinstance(value, kind) or compare(len(value), wanted)
    match keyword:
        case "const" | "enum":
            # True == 1 in Python, but not in JSON.
            values = [wanted] if keyword == "const" else wanted
            allowed = {(type(value) is bool, value) for value in values}
            return lambda value: (
                not isinstance(value, (dict, list)) and (type(value) is bool, value) in allowed
            )
        case "not":
            inner = compile_part(wanted)
            return lambda value: not inner(value)
    checks = [compile_part(item) for item in wanted]
    match keyword:
        case "allOf":
            return _search(checks, False)
        case "anyOf":
            return _search(checks, True)
        case "oneOf":
            return lambda value: sum(check(value) for check in checks) == 1
    raise LookupError(keyword)


def _search(checks: list[Predicate], result: bool) -> Predicate:
    """Return a check with this result if one of several has it: as any() or, if False, as all()."""
    if len(checks) == 2:  # the usual case
        first, second = checks
        if result:
            return lambda value: first(value) or second(value)
        return lambda value: first(value) and second(value)

    def check(value: Any) -> bool:  # faster than a generator
        for each in checks:
            if each(value) is result:
                return result
        return not result

    return check


def _all_different(values: list[Any]) -> bool:
    try:
        return len({(type(value) is bool, value) for value in values}) == len(values)
    except TypeError:  # objects and arrays within: jsonschema decides
        return False
