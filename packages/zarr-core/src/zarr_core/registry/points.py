"""The eleven kinds of extension, as a table.

Specification: v3.1, "Extension points".  Format, store, bridge and hooks are
extension points of this library; ``chunk_memory_layout`` is one of the draft of December 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from reprlib import repr as short
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of extension.

    Parameters
    ----------
    name : str
        Its name in errors, in settings and in a package's ``schemas`` folder.
    interface : str
        The class that every extension of the kind must be derived from, as
        ``module:Class``; empty if any object will do.
    unknown : {"refuse", "skip", "ignore"}
        What becomes of an unknown extension that need not be understood: an error
        all the same; left out, the array then being read only; ignored and kept.
    """

    name: str
    interface: str
    unknown: Literal["refuse", "skip", "ignore"] = "refuse"

    @property
    def group(self) -> str:
        """The group of entry points."""
        return f"zarr_core.{self.name}"

    @property
    def title(self) -> str:
        """The name as words."""
        return self.name.replace("_", " ")

    def interface_class(self) -> type[Any]:
        """The interface, imported."""
        if not self.interface:
            return object
        module, _, name = self.interface.partition(":")
        found: type[Any] = getattr(import_module(module), name)
        return found

    def objection(self, found: object) -> str:
        """Why an object cannot be an extension of this kind; empty if it can."""
        if not self.interface:
            return ""
        interface = self.interface_class()
        if not isinstance(found, type) or not issubclass(found, interface):
            # All that an object holds would be long, and may hold secrets.
            what = repr(found) if isinstance(found, type) else short(found)
            return f"{what} is not a class derived from {interface.__name__}"
        if missing := sorted(getattr(found, "__abstractmethods__", ())):
            return f"{found.__qualname__} does not define {', '.join(missing)}"
        return ""


# v3.1: `must_understand=False` is not supported for data type, chunk grid and
# chunk key encoding.  The order is that of listings.
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("codec", "zarr_core.interfaces.codec:Codec", "skip"),
        Kind("data_type", "zarr_core.interfaces.data_type:DataType"),
        Kind("chunk_grid", "zarr_core.interfaces.chunk_grid:ChunkGrid"),
        Kind("chunk_key_encoding", "zarr_core.interfaces.chunk_key_encoding:ChunkKeyEncoding"),
        Kind("chunk_memory_layout", "zarr_core.interfaces.chunk_memory_layout:ChunkMemoryLayout"),
        Kind(
            "storage_transformer",
            "zarr_core.interfaces.storage_transformer:StorageTransformer",
            "skip",
        ),
        Kind("extension", "zarr_core.interfaces.metadata_extension:MetadataExtension", "ignore"),
        Kind("format", "zarr_core.interfaces.format:Format"),
        Kind("store", "zarr_core.interfaces.store:Store"),
        Kind("bridge", ""),
        Kind("hooks", ""),
    )
}


def kind_called(name: str) -> Kind:
    """The kind of this name.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    try:
        return KINDS[name]
    except KeyError:
        raise ValueError(
            f"no kind of extension is called {name!r}; there are {', '.join(KINDS)}"
        ) from None
