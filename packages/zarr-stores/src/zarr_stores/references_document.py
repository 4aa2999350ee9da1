"""References in one JSON document, of version 0 or 1."""

from __future__ import annotations

from base64 import b64decode
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    MetadataValidationError,
    Problem,
    StoreKeyError,
    check_key,
    json_pointer,
    strictjson,
)

from zarr_stores.references_entries import Entries, SortedKeys, Target
from zarr_stores.references_templates import fill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_BASE64 = "base64:"
_LAST = 1 << 63  # no file has more bytes
_MOST_GENERATED = 10_000_000


class Document(Entries):
    """The references of a document.

    Parameters
    ----------
    document : mapping
        The document.
    where : str
        What it is, for errors.
    templates : mapping
        Templates that take the place of those in the document.

    Raises
    ------
    MetadataValidationError
        If it is no such document; points to what is wrong.

    Notes
    -----
    Keys that break the grammar of keys are not listed: no array has such chunks.
    """

    def __init__(self, document: Any, where: str, templates: Mapping[str, str]) -> None:
        self._where = where
        if not isinstance(document, dict):
            raise self._wrong("", "must be an object")
        # Lists are taken over as they are: there may be millions, of which few are asked for.
        self._entries: dict[str, bytes | Target | list[Any]] = {}
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
            raise self._wrong("/version", f"{version!r} is no version that is known: 1, or none")
        self._sorted: SortedKeys | None = None

    def get(self, key: str) -> bytes | Target | None:
        entry = self._entries.get(key)
        return Target(*entry) if isinstance(entry, list) else entry

    def keys(self, prefix: str) -> Iterator[str]:
        return self._listed().below(prefix)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        return self._listed().list_dir(prefix)

    def urls(self) -> Iterable[str]:
        return {entry[0] for entry in self._entries.values() if isinstance(entry, Target | list)}

    def _listed(self) -> SortedKeys:
        if self._sorted is None:
            self._sorted = SortedKeys(filter(_is_key, self._entries))
        return self._sorted

    # --- parsing ---

    def _take(self, references: Mapping[str, Any], names: Mapping[str, Any], pointer: str) -> None:
        filled: dict[str, str] = {}
        entries = self._entries
        for name, value in references.items():
            if not names and type(value) is list and _is_plain(value) and name[-1:] != "/":
                entries[name] = value
                continue
            # virtualizarr forgets the number of the only chunk of an array without dimensions.
            key = f"{name}0" if name.endswith("/") and f"{name}.zarray" in references else name
            try:
                entries[key] = _entry(value, names, filled)
            except ValueError as error:
                raise self._wrong(pointer + json_pointer(key), str(error)) from error

    def _generate(self, generators: Any, names: Mapping[str, Any]) -> None:
        """References that differ in numbers only."""
        if not isinstance(generators, list):
            raise self._wrong("/gen", "must be a list")
        total = 0
        for number, generator in enumerate(generators):
            pointer = f"/gen/{number}"
            try:
                if not isinstance(generator, dict):
                    raise ValueError("must be an object")
                axes = {name: _range(it) for name, it in generator["dimensions"].items()}
                total += prod(map(len, axes.values()))
                if total > _MOST_GENERATED:
                    raise ValueError(f"more than {_MOST_GENERATED} references are generated")
                self._generate_one(generator, axes, names)
            except (KeyError, AttributeError, TypeError) as error:
                raise self._wrong(pointer, f"is no generator: {error!r}") from error
            except ValueError as error:
                raise self._wrong(pointer, str(error)) from error

    def _generate_one(
        self, generator: dict[str, Any], axes: dict[str, Any], names: Mapping[str, Any]
    ) -> None:
        if ("offset" in generator) != ("length" in generator):
            raise ValueError("offset and length go together")
        for values in product(*axes.values()):
            here = {**names, **dict(zip(axes, values, strict=True))}
            key, url = fill(str(generator["key"]), here), fill(str(generator["url"]), here)
            target: list[Any] = [url]
            if "offset" in generator:
                target += (int(fill(str(generator[name]), here)) for name in ("offset", "length"))
            self._entries[key] = _entry(target, {}, {})

    def _object(self, document: dict[str, Any], name: str) -> dict[str, Any]:
        value = document.get(name, {})
        if not isinstance(value, dict):
            raise self._wrong(f"/{name}", "must be an object")
        return value

    def _wrong(self, pointer: str, message: str) -> MetadataValidationError:
        return MetadataValidationError(self._where, [Problem(pointer, message)])


def _is_plain(value: list[Any]) -> bool:
    """Whether a list is what most are: a URL, an offset, a length."""
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
        raise ValueError(f"a URL is a string, not {url!r}")
    if url not in filled:  # one string for all, however often the document has it
        filled[url] = fill(url, names) if names else url
    return target(filled[url], *value[1:])


def target(url: str, offset: Any = 0, length: Any = None) -> Target:
    """A target whose numbers are checked.

    Raises
    ------
    ValueError
        If they are negative, no integers, or beyond all files.
    """
    for name, number in (("offset", offset), ("length", 0 if length is None else length)):
        if type(number) is not int or not 0 <= number < _LAST:
            raise ValueError(f"{name} {number!r} is no number of bytes")
    return Target(url, offset, length)


def _range(given: Any) -> Any:
    """The values of a dimension: a list of numbers or texts, or from start to stop."""
    if isinstance(given, list):
        if not all(isinstance(value, int | str) for value in given):
            raise ValueError("values of a dimension are numbers or texts")
        return given
    numbers = [given.get("start", 0), given["stop"], given.get("step", 1)]
    if not all(type(number) is int and abs(number) < _LAST for number in numbers):
        raise ValueError(f"{given!r} is no range of integers")
    return range(*numbers)


def _is_key(key: Any) -> bool:
    try:
        return bool(check_key(key))
    except StoreKeyError:
        return False
