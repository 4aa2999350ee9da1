"""Encoding of JSON objects of which few members have changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError
from zarr_core.metadata.validation_problem import json_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON
    from zarr_core.location import Location

_FEW = 16  # removed members that are kept


class EncodedMembers:
    """The members of a JSON object, with their text; a changed object reuses those it shares.

    Members are recognized by their identity, so values must not be changed in place.

    Parameters
    ----------
    level : int
        The number of objects that contain the members.
    """

    __slots__ = ("_known", "level")

    def __init__(self, level: int) -> None:
        self.level = level
        self._known: dict[str, tuple[JSON, bytes]] = {}

    @classmethod
    def from_text(
        cls, text: bytes, members: Mapping[str, JSON], *path: str
    ) -> EncodedMembers | None:
        """Members that were read from a document, with their text in it.

        ``path`` has the names that lead to the object.  None if the document is not indented by
        two spaces, as most writers do.
        """
        start, stop = 0, len(text)
        for level, name in enumerate(path, 1):
            line = b"\n" + b"  " * level
            marker = line + strictjson.encode(name) + b": {"
            found = text.find(marker, start, stop)
            start = found + len(marker)
            stop = text.find(line + b"}", start, stop)
            if found < 0 or stop < 0:
                return None
        between = b",\n" + b"  " * (len(path) + 1)
        first, *others = text[start + len(between) - 1 : stop].split(between + b'"')
        texts = [first, *(b'"' + other for other in others)]
        # Only members may be separated: the brackets of a value would not fit those of an object.
        try:
            objects = json.loads(b"[{" + b"},{".join(texts) + b"}]")
        except ValueError:
            return None
        if len(objects) != len(members) or [name for it in objects for name in it] != [*members]:
            return None
        new = cls(len(path) + 1)
        entries = zip(members.values(), texts, strict=True)
        new._known = dict(zip(members, entries, strict=True))
        return new

    def encode(
        self, members: Mapping[str, JSON], location: Location | str, pointer: str = ""
    ) -> tuple[dict[str, JSON], bytes]:
        """Return an object in plain JSON types and its text, as :func:`strictjson.dumps` does.

        ``location`` and ``pointer``, the name of the document and the JSON pointer of the object, are
        used for errors.

        Raises
        ------
        MetadataValidationError
            If JSON cannot represent a value.
        """
        known = self._known
        entries: dict[str, tuple[JSON, bytes]] = {}
        for name, value in members.items():
            entry = known.get(name)
            if entry is None or entry[0] is not value:
                try:
                    entry = _encoded(name, value, self.level, location)
                except (MetadataValidationError, TypeError):
                    strictjson.plain(members, location, pointer)  # raises with all problems
                    raise
                known[name] = entry
            entries[name] = entry
        if len(known) > 2 * len(entries) + _FEW:  # most were removed
            self._known = entries
        plain = {name: value for name, (value, _) in entries.items()}
        return plain, joined([text for _, text in entries.values()], self.level)

    def encode_within(
        self, document: dict[str, JSON], name: str, location: Location | str
    ) -> tuple[dict[str, JSON], bytes]:
        """As :meth:`encode`, for a document of plain JSON of which the member ``name`` is the object."""
        members: Any = document[name]
        plain, text = self.encode(members, location, json_pointer(name))
        texts = {
            key: text if key == name else encode_nested(value, 1) for key, value in document.items()
        }
        return {**document, name: plain}, joined_members(texts, 1)

    def unknown(self, members: Mapping[str, JSON]) -> dict[str, JSON]:
        """The members that :meth:`encode` has not encoded before."""
        known = self._known
        return {
            name: value
            for name, value in members.items()
            if (entry := known.get(name)) is None or entry[0] is not value
        }

    def clear(self) -> None:
        """Forget all members."""
        self._known = {}


def _encoded(name: str, value: JSON, level: int, location: Location | str) -> tuple[JSON, bytes]:
    plain = strictjson.plain(value, location, depth=level)
    return plain, strictjson.encode(name) + b": " + encode_nested(plain, level)


def encode_nested(value: JSON, level: int) -> bytes:
    """Encode plain JSON that is nested in ``level`` objects."""
    return strictjson.encode(value).replace(b"\n", b"\n" + b"  " * level)


def joined(texts: list[bytes], level: int) -> bytes:
    """The text of an object from those of its members, which are nested in ``level`` objects."""
    if not texts:
        return b"{}"
    line = b"\n" + b"  " * level
    # Braces are put before joining, as the text may have megabytes.
    texts = [*texts]
    texts[0] = b"{" + line + texts[0]
    texts[-1] += line[:-2] + b"}"
    return (b"," + line).join(texts)


def joined_members(members: Mapping[str, bytes], level: int) -> bytes:
    """The text of an object from its names and the texts of their values."""
    texts = [b"%b: %b" % (strictjson.encode(name), text) for name, text in members.items()]
    return joined(texts, level)
