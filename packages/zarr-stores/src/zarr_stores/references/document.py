"""References in a JSON document of version 0 or 1."""

from __future__ import annotations

from base64 import b64decode
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import Location, json_pointer, strictjson

from zarr_stores.references.entries import References, Target
from zarr_stores.references.templates import expand

if TYPE_CHECKING:
    from collections.abc import Mapping

_BASE64 = "base64:"
_LAST = 1 << 63  # limit of offsets and lengths in bytes
_MOST_GENERATED = 10_000_000


class JSONReferences(References):
    """References in a JSON document."""

    def __init__(self, document: Any, location: Location, templates: Mapping[str, str]) -> None:
        super().__init__(location)
        if not isinstance(document, dict):
            raise self._wrong("", "must be an object")
        version = document.get("version", 0)
        if "version" not in document or isinstance(version, list | dict | str):
            self._take(document, {}, "")
        elif version == 1 and not isinstance(version, bool):
            names = {**self._object(document, "templates"), **templates}
            if not all(isinstance(text, str) for text in names.values()):
                raise self._wrong("/templates", "templates must be strings")
            self._take(self._object(document, "refs"), names, "/refs")
            self._generate(document.get("gen", []), names)
        else:
            raise self._wrong(
                "/version", f"version {version!r} is not supported; must be 1 or missing"
            )

    def _take(self, references: Mapping[str, Any], names: Mapping[str, Any], pointer: str) -> None:
        filled: dict[str, str] = {}
        entries = self._entries
        for name, value in references.items():
            if not names and type(value) is list and _is_plain(value) and name[-1:] != "/":
                entries[name] = value
                continue
            # virtualizarr omits the "0" in the key of the chunk of a zero-dimensional array.
            key = f"{name}0" if name.endswith("/") and f"{name}.zarray" in references else name
            try:
                entries[key] = _entry(value, names, filled)
            except ValueError as error:
                raise self._wrong(pointer + json_pointer(key), str(error)) from error

    def _generate(self, generators: Any, names: Mapping[str, Any]) -> None:
        """Expand generators of references."""
        if not isinstance(generators, list):
            raise self._wrong("/gen", "must be a list")
        total = 0
        for number, generator in enumerate(generators):
            pointer = f"/gen/{number}"
            try:
                _check_generator(generator)
                axes = {
                    name: _range(name, dimension)
                    for name, dimension in generator["dimensions"].items()
                }
                total += prod(map(len, axes.values()))
                if total > _MOST_GENERATED:
                    raise ValueError(f"generates more than {_MOST_GENERATED} references")
                self._generate_one(generator, axes, names)
            except ValueError as error:
                raise self._wrong(pointer, str(error)) from error

    def _generate_one(
        self, generator: dict[str, Any], axes: dict[str, Any], names: Mapping[str, Any]
    ) -> None:
        if ("offset" in generator) != ("length" in generator):
            raise ValueError("offset and length must be given together")
        for values in product(*axes.values()):
            here = {**names, **dict(zip(axes, values, strict=True))}
            key, url = expand(generator["key"], here), expand(generator["url"], here)
            target: list[Any] = [url]
            if "offset" in generator:
                target += (_number(name, generator[name], here) for name in ("offset", "length"))
            self._entries[key] = _entry(target, {}, {})

    def _object(self, document: dict[str, Any], name: str) -> dict[str, Any]:
        value = document.get(name, {})
        if not isinstance(value, dict):
            raise self._wrong(f"/{name}", "must be an object")
        return value


def _is_plain(value: list[Any]) -> bool:
    """Return whether a list is a valid URL, offset and length."""
    if len(value) != 3:
        return False
    url, offset, length = value
    return (
        type(url) is str
        and type(offset) is int
        and type(length) is int
        and 0 <= offset < _LAST
        and 0 <= length < _LAST
    )


def _entry(value: Any, names: Mapping[str, Any], filled: dict[str, str]) -> bytes | Target:
    if isinstance(value, str):
        if value.startswith(_BASE64):
            return b64decode(value.removeprefix(_BASE64), validate=True)
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return strictjson.encode(value)
    if not isinstance(value, list) or len(value) not in (1, 3):
        raise ValueError("must be a string, an object, [url] or [url, offset, length]")
    url = value[0]
    if url is None:
        url = ""
    if not isinstance(url, str):
        raise ValueError(f"the URL must be a string, not {url!r}")
    if url not in filled:  # one string object for all references to a file
        filled[url] = expand(url, names) if names else url
    return target(filled[url], *value[1:])


def target(url: str, offset: Any = 0, length: Any = None) -> Target:
    """Return a target with valid offset and length."""
    for name, number in (("offset", offset), ("length", 0 if length is None else length)):
        if type(number) is not int or not 0 <= number < _LAST:
            raise ValueError(f"{name} must be a number of bytes, not {number!r}")
    return Target(url, offset, length)


def _check_generator(generator: Any) -> None:
    """Check the members of a generator."""
    if not isinstance(generator, dict):
        raise ValueError("must be an object")
    if missing := [name for name in ("key", "url", "dimensions") if name not in generator]:
        raise ValueError(f"the generator has no {' and no '.join(map(repr, missing))}")
    for name in ("key", "url"):
        if not isinstance(generator[name], str):
            raise ValueError(f"{name} must be a string, not {generator[name]!r}")
    if not isinstance(generator["dimensions"], dict):
        raise ValueError(f"dimensions must be an object, not {generator['dimensions']!r}")


def _number(name: str, value: Any, names: Mapping[str, Any]) -> int:
    """Return the offset or length of a generated reference."""
    text = expand(str(value), names)
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} {text!r} is not an integer") from None


def _range(name: str, definition: Any) -> Any:
    """Return the values of a dimension: a list of integers or strings, or a range."""
    if isinstance(definition, list):
        if not all(isinstance(value, int | str) for value in definition):
            raise ValueError(f"values of the dimension {name!r} must be integers or strings")
        return definition
    if not isinstance(definition, dict) or "stop" not in definition:
        raise ValueError(
            f"the dimension {name!r} must be a list of values, or an object with 'stop' and "
            f"optionally 'start' and 'step', not {definition!r}"
        )
    if definition.get("step") == 0:
        raise ValueError(f"the step of the dimension {name!r} must not be 0")
    numbers = [definition.get("start", 0), definition["stop"], definition.get("step", 1)]
    if not all(type(number) is int and abs(number) < _LAST for number in numbers):
        raise ValueError(f"the dimension {name!r} is not a valid range of integers: {definition!r}")
    return range(*numbers)
