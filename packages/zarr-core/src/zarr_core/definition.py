"""How a metadata document names an extension.

Specification: v3.1, "Extension definition".  A definition is an object with a
``name``, an optional ``configuration`` and an optional ``must_understand``; a
bare string is the short-hand for an object with that name alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"


@dataclass(frozen=True, slots=True)
class ExtensionDefinition:
    """The name and configuration of an extension, as data.

    Parameters
    ----------
    name : str
        Name of the extension.
    configuration : mapping
        Its configuration; empty where the document gives none.
    must_understand : bool
        False permits a reader that does not know the extension to leave it out,
        at the extension points where the specification allows that.
    spelling : JSON
        The definition as the document has it.  It is written back unchanged,
        so that reading and writing a document loses nothing.
    """

    name: str
    configuration: Mapping[str, JSON] = field(default_factory=dict)
    must_understand: bool = True
    spelling: JSON = field(default=None, repr=False, compare=False)

    @classmethod
    def from_json(cls, value: JSON) -> ExtensionDefinition:
        """Read a definition whose structure was validated before.

        Parameters
        ----------
        value : str or dict
            Short-hand name or extension object.
        """
        if isinstance(value, str):
            return cls(value, spelling=value)
        if not isinstance(value, dict):  # the schema of the document refuses this earlier
            raise TypeError(f"an extension definition is a string or an object, not {value!r}")
        configuration = value.get("configuration", {})
        return cls(
            str(value["name"]),
            configuration if isinstance(configuration, dict) else {},
            value.get("must_understand", True) is not False,
            spelling=value,
        )

    def to_json(self) -> JSON:
        """The definition as JSON: as it was read, or as an object.

        The object form is chosen for new definitions because version 3.0 knows
        no other for codecs ("Array metadata", note on ``codecs``).
        """
        if self.spelling is not None:
            return self.spelling
        document: dict[str, JSON] = {"name": self.name}
        if self.configuration:
            document["configuration"] = dict(self.configuration)
        if not self.must_understand:
            document["must_understand"] = False
        return document
