"""Codecs of arrays as objects of zarr-python and numcodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr.codecs  # noqa: F401 - registers the codecs
from zarr.registry import get_codec_class

if TYPE_CHECKING:
    from zarr_core.extension import ExtensionDefinition

__all__ = ["Codec", "numcodecs_of", "v3_codec_of"]


class Codec:
    """The definition of a codec that neither zarr-python nor numcodecs has.

    Parameters
    ----------
    definition : ExtensionDefinition
        Its name and configuration; the members of the configuration are attributes of the object.
    """

    def __init__(self, definition: ExtensionDefinition) -> None:
        self._definition = definition

    def to_dict(self) -> dict[str, Any]:
        """Return the definition, as in metadata documents."""
        return document_of(self._definition)

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition for the core."""
        return self._definition

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._definition.configuration:
            return self._definition.configuration[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self._definition.name)

    def __repr__(self) -> str:
        return f"Codec({self.to_dict()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Codec, (self._definition,)


def document_of(definition: ExtensionDefinition) -> dict[str, Any]:
    """Return a definition as an object of a metadata document."""
    document: Any = definition.to_json()
    return {"name": document} if isinstance(document, str) else document


def v3_codec_of(definition: ExtensionDefinition) -> Any:
    """Return the codec of a definition: of zarr-python's class if it has the codec."""
    try:
        return get_codec_class(definition.name).from_dict(document_of(definition))
    except Exception:  # unknown, or third-party code
        return Codec(definition)


def numcodecs_of(definition: ExtensionDefinition) -> Any:
    """Return the object of numcodecs for a codec of version 2, if numcodecs has it."""
    from numcodecs import registry  # slow to import

    configuration: dict[str, Any] = dict(definition.configuration)
    name = definition.name.removeprefix("numcodecs.")
    if definition.name == "blosc":
        configuration.pop("typesize", None)
        configuration["shuffle"] = _SHUFFLES.get(configuration.get("shuffle", ""), -1)
    try:
        return registry.get_codec({"id": name, **configuration})  # type: ignore[no-untyped-call]  # untyped
    except (TypeError, ValueError, KeyError):
        return Codec(definition)


_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
