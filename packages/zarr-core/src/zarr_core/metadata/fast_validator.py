"""JSON Schema compiled to a Python function, for fast validation without importing ``jsonschema``.

The keywords of the schemas of this library become closures.  Values that these do not accept,
and schemas with other keywords, are passed to :mod:`zarr_core.metadata.schema`.  In both, unlike
in JSON Schema, an integer has no fraction or exponent; ``1.0`` is not an integer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.strictjson import DecimalNumber

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Predicate: TypeAlias = Callable[[Any], bool]

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
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float, DecimalNumber),
    "boolean": (bool,),
    "null": (type(None),),
}


_IF = ("if", "then", "else")


class _UnsupportedError(Exception):
    """A keyword or value that this module does not support."""


def compile_schema(schema: Mapping[str, Any] | bool) -> Predicate | None:
    """Compile a schema to a function that returns whether a document of plain JSON types is valid.

    None if the schema has an unsupported keyword.  The schema is JSON Schema, draft 2020-12, with
    references only to its own ``$defs``.
    """
    try:
        check = _Compiler(schema).compile(schema)
    except _UnsupportedError:
        return None

    def accept(value: Any) -> bool:
        try:
            return check(value)
        except (_UnsupportedError, RecursionError):
            return False  # jsonschema decides

    return accept


def local_reference(root: Any, reference: str) -> Any:
    """Return the target of a reference within a schema, such as ``"#/$defs/name"``.

    Raises
    ------
    LookupError
        If it points to nothing, or outside the schema.
    """
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    target = root
    for token in reference.split("/")[1:]:
        target = target[token.replace("~1", "/").replace("~0", "~")]
    return target


class _Compiler:
    """One method per group of keywords; keywords accept values of types they do not apply to."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._references: dict[str, list[Predicate]] = {}

    def compile(self, schema: Any) -> Predicate:
        if isinstance(schema, bool):
            return (lambda _: True) if schema else (lambda _: False)
        if not isinstance(schema, dict):
            raise _UnsupportedError
        left = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        checks: list[Predicate] = []
        if "type" in left:
            checks.append(self._type(left.pop("type")))
        groups = (self._object, self._array, self._number, self._string)
        checks += [check for group in groups if (check := group(left)) is not None]
        if "$ref" in left:
            checks.append(self._reference(left.pop("$ref")))
        if "contains" in left:
            checks.append(self._contains(left))
        for name, combine in (
            ("anyOf", self._any),
            ("allOf", self._all),
            ("oneOf", self._one),
        ):
            if name in left:
                checks.append(combine([self.compile(item) for item in left.pop(name)]))
        if "if" in left:
            checks.append(self._if(*(self.compile(left.pop(word, True)) for word in _IF)))
        if "not" in left:
            checks.append(self._not(self.compile(left.pop("not"))))
        if "const" in left:
            checks.append(self._among([left.pop("const")]))
        if "enum" in left:
            checks.append(self._among(left.pop("enum")))
        if left:
            raise _UnsupportedError
        return checks[0] if len(checks) == 1 else self._all(checks)

    @staticmethod
    def _type(names: str | list[str]) -> Predicate:
        wanted = [names] if isinstance(names, str) else names
        kinds = {kind for name in wanted for kind in _TYPES[name]}
        if len(kinds) == 1:
            only = kinds.pop()
            return lambda value: type(value) is only
        return lambda value: type(value) in kinds

    def _object(self, schema: dict[str, Any]) -> Predicate | None:
        words = ("properties", "required", "additionalProperties", "minProperties", "maxProperties")
        if not any(word in schema for word in words):
            return None
        members = {name: self.compile(item) for name, item in schema.pop("properties", {}).items()}
        required = frozenset(schema.pop("required", ()))
        other = schema.pop("additionalProperties", True)
        rest = None if other is True else self.compile(other)
        least = schema.pop("minProperties", 0)
        most = schema.pop("maxProperties", None)

        def check(value: Any) -> bool:
            if type(value) is not dict:
                return True
            if not value.keys() >= required:
                return False
            if len(value) < least or (most is not None and len(value) > most):
                return False
            for name, item in value.items():
                member = members.get(name, rest)
                if member is not None and not member(item):
                    return False
            return True

        return check

    def _array(self, schema: dict[str, Any]) -> Predicate | None:
        words = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")
        if not any(word in schema for word in words):
            return None
        first = [self.compile(item) for item in schema.pop("prefixItems", [])]
        each = self.compile(schema.pop("items")) if "items" in schema else None
        least = schema.pop("minItems", 0)
        most = schema.pop("maxItems", None)
        unique = schema.pop("uniqueItems", False)

        def check(value: Any) -> bool:
            if type(value) is not list:
                return True
            if len(value) < least or (most is not None and len(value) > most):
                return False
            if not all(member(item) for member, item in zip(first, value, strict=False)):
                return False
            if each is not None:
                for item in value[len(first) :] if first else value:
                    if not each(item):
                        return False
            return not unique or _all_different(value)

        return check

    def _contains(self, schema: dict[str, Any]) -> Predicate:
        wanted = self.compile(schema.pop("contains"))
        least, most = schema.pop("minContains", 1), schema.pop("maxContains", None)

        def check(value: Any) -> bool:
            if type(value) is not list:
                return True
            count = sum(map(wanted, value))
            return count >= least and (most is None or count <= most)

        return check

    @staticmethod
    def _number(schema: dict[str, Any]) -> Predicate | None:
        words = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        low, high, above, below, factor = bounds = [schema.pop(word, None) for word in words]
        if not {type(bound) for bound in bounds} <= {int, float, type(None)}:
            raise _UnsupportedError
        if low is high is above is below is factor is None:
            return None

        def check(value: Any) -> bool:
            kind = type(value)
            if kind not in _TYPES["number"]:
                return True
            if factor is not None:
                if kind is not int or type(factor) is float:
                    raise _UnsupportedError
                if value % factor:
                    return False
            return (
                (low is None or value >= low)
                and (high is None or value <= high)
                and (above is None or value > above)
                and (below is None or value < below)
            )

        return check

    @staticmethod
    def _string(schema: dict[str, Any]) -> Predicate | None:
        words = ("minLength", "maxLength", "pattern")
        least, most, pattern = (schema.pop(word, None) for word in words)
        if least is most is pattern is None:
            return None
        search = re.compile(pattern).search if pattern is not None else None

        def check(value: Any) -> bool:
            return type(value) is not str or (
                (least is None or len(value) >= least)
                and (most is None or len(value) <= most)
                and (search is None or search(value) is not None)
            )

        return check

    def _reference(self, reference: str) -> Predicate:
        if (known := self._references.get(reference)) is None:
            # Added before it is compiled: a schema may refer to itself.
            known = self._references[reference] = []
            try:
                target = local_reference(self._root, reference)
            except (LookupError, TypeError):
                raise _UnsupportedError from None
            known.append(self.compile(target))
        if known:
            return known[0]
        return lambda value: known[0](value)

    @staticmethod
    def _all(checks: list[Predicate]) -> Predicate:
        if len(checks) == 2:
            first, second = checks
            return lambda value: first(value) and second(value)
        return lambda value: all(check(value) for check in checks)

    @staticmethod
    def _any(checks: list[Predicate]) -> Predicate:
        if len(checks) == 2:
            first, second = checks
            return lambda value: first(value) or second(value)
        return lambda value: any(check(value) for check in checks)

    @staticmethod
    def _one(checks: list[Predicate]) -> Predicate:
        return lambda value: sum(check(value) for check in checks) == 1

    @staticmethod
    def _if(condition: Predicate, then: Predicate, otherwise: Predicate) -> Predicate:
        return lambda value: then(value) if condition(value) else otherwise(value)

    @staticmethod
    def _not(check: Predicate) -> Predicate:
        return lambda value: not check(value)

    @staticmethod
    def _among(values: list[Any]) -> Predicate:
        if any(isinstance(value, (list, dict)) for value in values):
            raise _UnsupportedError
        # True == 1 in Python, but not in JSON.
        allowed = {(type(value) is bool, value) for value in values}

        def check(value: Any) -> bool:
            kind = type(value)
            return kind is not dict and kind is not list and (kind is bool, value) in allowed

        return check


def _all_different(values: list[Any]) -> bool:
    try:
        return len({(type(value) is bool, value) for value in values}) == len(values)
    except TypeError:  # objects and arrays within
        raise _UnsupportedError from None
