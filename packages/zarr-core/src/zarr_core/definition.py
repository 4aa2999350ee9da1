"""Definitions of extensions in metadata documents.

Specification: v3.1, "Extension definition": an object with a ``name``, an optional
``configuration`` and an optional ``must_understand``; or a string, if there is only a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"


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

    @classmethod
    def from_json(cls, value: JSON) -> ExtensionDefinition:
        """Create an instance from a valid definition, a name or an object."""
        if isinstance(value, str):
            return cls(value, spelling=value)
        if not isinstance(value, dict):  # the schema rejects this earlier
            raise TypeError(f"an extension definition must be a string or an object, not {value!r}")
        configuration = value.get("configuration", {})
        return cls(
            str(value["name"]),
            configuration if isinstance(configuration, dict) else {},
            value.get("must_understand", True) is not False,
            spelling=value,
        )

    def to_json(self) -> JSON:
        """Return the definition as it was read, or as an object.

        New definitions are objects: version 3.0 does not allow strings for codecs ("Array
        metadata", note on ``codecs``).  Those of numcodecs, such as ``numcodecs.packbits``, have
        a configuration even if it is empty: zarr-python requires it.
        """
        if self.spelling is not None:
            return self.spelling
        document: dict[str, JSON] = {"name": self.name}
        if self.configuration or self.name.startswith("numcodecs."):
            document["configuration"] = dict(self.configuration)
        if not self.must_understand:
            document["must_understand"] = False
        return document
