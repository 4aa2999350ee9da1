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
    Part: TypeAlias = Mapping[str, Any]
    # Compiles one or more keywords of a part of a schema.
    Keyword: TypeAlias = Callable[[Part, Callable[[Any], Predicate]], Predicate]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict, ReadOnlyDict, EncodedObject),
    "array": (list, ReadOnlyList),
    "string": (str,),
    "integer": (int,),
    "number": (int, float, DecimalNumber),
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS = frozenset([
    "$schema", "$id", "$comment", "$defs", "title", "description", "examples", "default",
    "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType",
])  # fmt: skip


def compile_schema(schema: Mapping[str, Any] | bool) -> Predicate | None:
    """Compile a schema to a function that returns whether a document of plain JSON types is valid.

    The schema is JSON Schema, draft 2020-12, with references only to its own ``$defs``.  None if it
    is invalid, or has a keyword that is not supported.
    """
    references: dict[str, list[Predicate]] = {}

    def compile_part(part: Any) -> Predicate:
        if isinstance(part, bool):
            return lambda _: part
        words = [word for word in part if word not in _ANNOTATIONS and word != "$ref"]
        keywords = dict.fromkeys(_KEYWORDS[word] for word in words)  # one for several words
        checks = [keyword(part, compile_part) for keyword in keywords]
        checks += [refer(part["$ref"])] if "$ref" in part else []
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


# --- keywords; each accepts all values of types that it does not concern ---


def _type(part: Part, _: object) -> Predicate:
    names = part["type"]
    kinds = {kind for name in ([names] if type(names) is str else names) for kind in _TYPES[name]}
    if len(kinds) == 1:
        only = kinds.pop()
        return lambda value: type(value) is only
    return lambda value: type(value) in kinds


def _object(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    members = {name: compile_part(item) for name, item in part.get("properties", {}).items()}
    required = frozenset(part.get("required", ()))
    other = part.get("additionalProperties", True)
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


def _array(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    first = [compile_part(item) for item in part.get("prefixItems", ())]
    each = compile_part(part.get("items", True))

    def check(value: Any) -> bool:
        if not isinstance(value, list):
            return True
        if not first:
            return all(map(each, value))
        begin = all(check(item) for check, item in zip(first, value, strict=False))
        return begin and all(map(each, value[len(first) :]))

    return check


def _contains(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    wanted, minimum = compile_part(part["contains"]), part.get("minContains", 1)
    maximum = part.get("maxContains", float("inf"))
    return lambda value: (
        not isinstance(value, list) or bool(minimum <= sum(map(wanted, value)) <= maximum)
    )


def _if(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    condition, then, other = (compile_part(part.get(word, True)) for word in ("if", "then", "else"))
    return lambda value: then(value) if condition(value) else other(value)


def _one_of(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    checks = [*map(compile_part, part["oneOf"])]
    return lambda value: sum(check(value) for check in checks) == 1


def _not(part: Part, compile_part: Callable[[Any], Predicate]) -> Predicate:
    inner = compile_part(part["not"])
    return lambda value: not inner(value)


def _enumeration(values: list[Any]) -> Predicate:
    # True == 1 in Python, but not in JSON.
    allowed = {(type(value) is bool, value) for value in values}
    return lambda value: (
        not isinstance(value, (dict, list)) and (type(value) is bool, value) in allowed
    )


def _comparison(word: str, type_name: str, compare: Callable[[Any, Any], bool]) -> Keyword:
    """Return a keyword that compares values of one type with its own value."""
    types = _TYPES[type_name]

    def keyword(part: Part, _: object) -> Predicate:
        wanted = part[word]
        compare(types[0](), wanted)  # an error if the keyword has a wrong type
        return lambda value: type(value) not in types or compare(value, wanted)

    return keyword


def _is_as_long(items: Any, length: int) -> bool:
    return len(items) >= length


def _is_as_short(items: Any, length: int) -> bool:
    return len(items) <= length


def _all_different(values: list[Any], wanted: bool) -> bool:
    try:
        return not wanted or len({(type(item) is bool, item) for item in values}) == len(values)
    except TypeError:  # contains objects or arrays: jsonschema decides
        return False


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


_COMPARISONS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "number", operator.ge),
    ("maximum", "number", operator.le),
    ("exclusiveMinimum", "number", operator.gt),
    ("exclusiveMaximum", "number", operator.lt),
    ("multipleOf", "number", lambda value, factor: not value % factor),
    ("pattern", "string", lambda text, pattern: re.search(pattern, text) is not None),
    ("minLength", "string", _is_as_long),
    ("maxLength", "string", _is_as_short),
    ("minItems", "array", _is_as_long),
    ("maxItems", "array", _is_as_short),
    ("uniqueItems", "array", _all_different),
    ("minProperties", "object", _is_as_long),
    ("maxProperties", "object", _is_as_short),
)
_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    **dict.fromkeys(("properties", "required", "additionalProperties"), _object),
    **dict.fromkeys(("items", "prefixItems"), _array),
    **dict.fromkeys(("contains", "minContains", "maxContains"), _contains),
    **dict.fromkeys(("if", "then", "else"), _if),
    "const": lambda part, _: _enumeration([part["const"]]),
    "enum": lambda part, _: _enumeration(part["enum"]),
    "not": _not,
    "allOf": lambda part, compile_part: _search([*map(compile_part, part["allOf"])], False),
    "anyOf": lambda part, compile_part: _search([*map(compile_part, part["anyOf"])], True),
    "oneOf": _one_of,
    **{item[0]: _comparison(*item) for item in _COMPARISONS},
}
