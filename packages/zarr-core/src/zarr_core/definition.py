"""Definitions of extensions in metadata documents.

Specification: v3.1, "Extension definition": an object with a ``name``, an optional
``configuration`` and an optional ``must_understand``; or a string, if there is only a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"

_CONTAINERS = frozenset([dict, list])


def _reject_change(value: Any, *_: Any, **__: Any) -> NoReturn:
    kind = "list" if isinstance(value, list) else "dictionary"
    raise TypeError(
        f"cannot change a {kind} within attributes or other metadata: it is not stored. Change a "
        "copy and assign it, as in value = array.attrs.asdict()['name']; ...; "
        "array.attrs['name'] = value"
    )


class ReadOnlyList(list[Any]):
    """A list in metadata, which cannot be changed; copies are ordinary lists."""

    __slots__ = ()
    __delitem__ = __setitem__ = __iadd__ = __imul__ = append = clear = _reject_change
    extend = insert = pop = remove = reverse = sort = _reject_change

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class ReadOnlyDict(dict[str, Any]):
    """A dictionary in metadata, which cannot be changed; copies are ordinary dictionaries."""

    __slots__ = ()
    __delitem__ = __setitem__ = __ior__ = clear = pop = _reject_change
    popitem = setdefault = update = _reject_change

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def freeze(value: Any) -> Any:
    """Return a JSON value whose lists and dictionaries, at any depth, cannot be changed."""
    kind = type(value)
    try:
        if kind is dict:
            result = ReadOnlyDict(value)
            for name, item in value.items():
                if type(item) in _CONTAINERS:  # faster than a call for each value
                    dict.__setitem__(result, name, freeze(item))
            return result
        if kind is list:
            return ReadOnlyList(
                value if _CONTAINERS.isdisjoint(map(type, value)) else map(freeze, value)
            )
    except RecursionError:
        pass  # too deep for JSON, which is rejected later
    return value


def freeze_fields(instance: Any, *names: str) -> None:
    """Make the dictionaries in fields of a frozen dataclass read-only."""
    for name in names:
        if type(value := getattr(instance, name)) is dict:  # faster than a call for each
            object.__setattr__(instance, name, freeze(value))


def ordinary(value: Any) -> Any:
    """Return a copy of a JSON value with lists and dictionaries that can be changed."""
    try:
        if isinstance(value, dict):
            return {name: ordinary(item) for name, item in value.items()}
        return [*map(ordinary, value)] if isinstance(value, list) else value
    except RecursionError:
        return value  # as in freeze


_EMPTY = ReadOnlyDict()


@dataclass(frozen=True, slots=True)
class ExtensionDefinition:
    """The name and configuration of an extension.

    Parameters
    ----------
    name : str
        Name of the extension.
    configuration : mapping
        The configuration; empty if the document has none.
    must_understand : bool
        False permits readers that do not know the extension to ignore it, at extension points
        where the specification allows that.
    spelling : JSON
        The definition as it was read, for writing it unchanged.
    """

    name: str
    configuration: Mapping[str, JSON] = field(default_factory=dict)
    must_understand: bool = True
    spelling: JSON = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if type(self.configuration) is not ReadOnlyDict:
            object.__setattr__(self, "configuration", freeze(dict(self.configuration)))

    @classmethod
    def from_json(cls, value: JSON | ExtensionDefinition) -> ExtensionDefinition:
        """Create an instance from a valid definition, a name or an object; or return an instance."""
        if isinstance(value, str):
            return cls(value, spelling=value)
        if isinstance(value, ExtensionDefinition):
            return value
        if not isinstance(value, dict):  # the schema rejects this earlier
            raise TypeError(f"an extension definition must be a string or an object, not {value!r}")
        members = value if type(value) is ReadOnlyDict else freeze(value)
        configuration = members.get("configuration")
        return cls(
            str(members["name"]),
            configuration if isinstance(configuration, dict) else _EMPTY,
            members.get("must_understand", True) is not False,
            spelling=members,
        )

    def to_json(self) -> JSON:
        """Return the definition as it was read, or as an object.

        New definitions are objects: version 3.0 does not allow strings for codecs ("Array
        metadata", note on ``codecs``).  Those of numcodecs, such as ``numcodecs.packbits``, have
        a configuration even if it is empty: zarr-python requires it.
        """
        if self.spelling is not None:
            spelling: JSON = ordinary(self.spelling)
            return spelling
        document: dict[str, JSON] = {"name": self.name}
        if self.configuration or self.name.startswith("numcodecs."):
            document["configuration"] = ordinary(self.configuration)
        if not self.must_understand:
            document["must_understand"] = False
        return document
