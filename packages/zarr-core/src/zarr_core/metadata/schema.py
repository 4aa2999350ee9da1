"""JSON Schemas; the only module that imports ``jsonschema``, and only to explain errors.

Documents are validated by a compiled function (:mod:`zarr_core.metadata.fast_validator`).
"""

from __future__ import annotations

import json
import os.path  # pathlib takes milliseconds to import
import sys
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import ValidationProblem, json_pointer
from zarr_core.metadata.fast_validator import compile_schema, local_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core.definition import JSON


_MAX_PROBLEMS = 1000  # messages show fewer; to word those of a hostile document takes minutes


class InvalidSchemaError(ValueError):
    """A schema is not a valid JSON Schema, or has references outside itself."""


class Schema:
    """A JSON Schema, draft 2020-12, with references only within itself.

    Attributes
    ----------
    accepts : callable
        Whether the fast validator accepts a value.  False may also mean that it does not support
        the schema; see :meth:`problems`.
    """

    def __init__(self, document: Mapping[str, Any] | bool) -> None:
        self.document = document
        self.accepts: Callable[[JSON], bool] = compile_schema(document) or (lambda _: False)
        self._validator: Any = None

    def problems(self, value: JSON, pointer: str = "") -> list[ValidationProblem]:
        """Return the problems of a value; ``pointer`` is put before every JSON pointer.

        Raises
        ------
        InvalidSchemaError
            If the schema is invalid; raised only for values that are not accepted.
        """
        if self.accepts(value):
            return []
        errors = self.errors(value)
        # Omit wrong types where the required value is reported.
        reported = {error.json_path for error in errors if error.validator in ("const", "enum")}
        problems = (
            problem.below(pointer)
            for error in errors
            if not (error.validator == "type" and error.json_path in reported)
            for problem in _problems(error, self.document)
        )
        return list(dict.fromkeys(islice(problems, _MAX_PROBLEMS)))

    def errors(self, value: JSON) -> list[Any]:
        """Return the errors of jsonschema; raises as :meth:`problems`."""
        if self._validator is None:
            self._validator = _validator(self.document)
        try:
            errors = islice(self._validator.iter_errors(value), _MAX_PROBLEMS)
            return sorted(errors, key=_location)
        except Exception as error:  # an invalid reference or pattern
            raise InvalidSchemaError(f"the schema cannot be applied: {error}") from error


@cache
def package_schema(package: str, extension_point: str, name: str) -> Schema:
    """Return the schema ``schemas/<extension_point>/<name>.json`` in the folder of a package.

    ``package`` is the name of an imported package, such as ``"zarr_formats"``.
    """
    file = schema_file(package, extension_point, name)
    if file is None:
        raise FileNotFoundError(f"{package} has no schemas/{extension_point}/{name}.json")
    path, content = file
    document: Any = strictjson.loads(content, path)
    return Schema(document)


core_schema = partial(package_schema, "zarr_core", "core")
"""Return a schema of the core specification: ``array``, ``group``, ``consolidated`` ..."""


def schema_file(module: str, extension_point: str, name: str) -> tuple[str, bytes] | None:
    """Return the path and the content of a schema in an imported package or a package around it."""
    while module and not {"/", "\\"} & {*name}:  # a URI is not a file name
        package: Any = sys.modules.get(module)
        for folder in getattr(package, "__path__", ()):
            file = os.path.join(folder, "schemas", extension_point, f"{name}.json")
            # get_data also reads archives.  A namespace package does not have it.
            with suppress(AttributeError, OSError):
                return file, package.__loader__.get_data(file)
        module = module.rpartition(".")[0]
    return None


def _validator(schema: Mapping[str, Any] | bool) -> Any:
    import jsonschema
    from referencing import Registry

    def is_integer(_: Any, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    base = jsonschema.Draft202012Validator
    checker = base.TYPE_CHECKER.redefine("integer", is_integer)
    library: Any = jsonschema.validators  # its types are not complete
    strict = library.extend(base, type_checker=checker)
    try:
        base.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = json_pointer(*error.absolute_path)
        raise InvalidSchemaError(f"not a JSON Schema: {where} {error.message}") from error
    # An empty registry prevents references outside the schema, and downloads.
    return strict(schema, registry=Registry())


def _location(error: Any) -> tuple[str, str]:
    return json_pointer(*error.absolute_path), str(error.validator)


def _problems(error: Any, root: Any) -> Iterator[ValidationProblem]:
    """Convert an error of jsonschema to problems."""
    pointer = json_pointer(*error.absolute_path)
    value, wanted = error.instance, error.validator_value
    match error.validator:
        case "required":
            for name in wanted:
                if name not in value:
                    yield ValidationProblem(pointer + json_pointer(name), "is missing")
        case "additionalProperties" if wanted is False:
            known = list(error.schema.get("properties", {}))
            hint = f"known: {', '.join(known)}" if known else "none is known"
            for name in value:
                if name not in known:
                    yield ValidationProblem(
                        pointer + json_pointer(name), f"is not a member here; {hint}"
                    )
        case "anyOf" | "oneOf" if error.context:
            yield from _forms(error, pointer, root)
        case _:
            yield ValidationProblem(pointer, _message(error))


_MESSAGES = {
    "const": "must be {wanted}, not {value}",
    "enum": "must be one of {options}, not {value}",
    "minimum": "{value} is less than {wanted}",
    "maximum": "{value} is more than {wanted}",
    "exclusiveMinimum": "{value} is not more than {wanted}",
    "minItems": "must have at least {wanted} item{s}, but has {length}",
    "maxItems": "must have at most {wanted} item{s}, but has {length}",
    "minLength": "must have at least {wanted} character{s}",
    "uniqueItems": "has an item more than once: {value}",
    "pattern": "{value} does not have the form {text}",
}


def _message(error: Any) -> str:
    keyword, wanted, value = error.validator, error.validator_value, _shown(error.instance)
    if keyword == "type":
        names = [wanted] if isinstance(wanted, str) else wanted
        text = " or ".join(_TYPE_WORDS.get(name, name) for name in names)
        if isinstance(error.instance, float) and "integer" in names:
            text += ", written without fraction or exponent"
        return f"must be {text}, not {value}"
    if keyword == "not" and "const" in wanted:
        return f"must not be {_shown(wanted['const'])}"
    if keyword == "maxContains" and "const" in error.schema["contains"]:
        return f"has {_shown(error.schema['contains']['const'])} more than once: {value}"
    if keyword not in _MESSAGES:
        return str(error.message)
    return _MESSAGES[keyword].format(
        value=value,
        wanted=_shown(wanted),
        text=wanted,
        options=", ".join(map(_shown, wanted)) if isinstance(wanted, list) else "",
        length=len(error.instance) if isinstance(error.instance, list) else 0,
        s="" if wanted == 1 else "s",
    )


_TYPE_WORDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


_OUTRIGHT = ("type", "const", "enum")


def _forms(error: Any, pointer: str, root: Any) -> Iterator[ValidationProblem]:
    """Explain a value that has none of several forms: by the intended form, or by all forms."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        if not inner.relative_schema_path:  # the schema "false"
            continue
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    # The intended form is the only one with the type of the value.
    intended = [
        inner
        for inner in branches.values()
        if isinstance(error.instance, (dict, list))
        and not any(item.validator in _OUTRIGHT and not item.relative_path for item in inner)
    ]
    if len(intended) == 1:
        for inner in sorted(intended[0], key=_location):
            yield from _problems(inner, root)
        return
    forms = ", ".join(_form(branch, root) for branch in error.validator_value if branch)
    yield ValidationProblem(
        pointer, f"must have one of these forms: {forms}; not {_shown(error.instance)}"
    )


def _form(schema: dict[str, Any], root: Any) -> str:
    while "title" not in schema and "$ref" in schema:
        schema = local_reference(root, schema["$ref"])
    if "title" in schema:
        return str(schema["title"])
    if "const" in schema:
        return _shown(schema["const"])
    if "enum" in schema:
        return ", ".join(map(_shown, schema["enum"]))
    kind = schema.get("type")
    return _TYPE_WORDS.get(kind, "another") if isinstance(kind, str) else "another"


def _shown(value: Any) -> str:
    try:
        parts = json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value)
        text = "".join(islice(parts, 61))  # of at least one character each
    except (ValueError, RecursionError):  # it contains itself
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
