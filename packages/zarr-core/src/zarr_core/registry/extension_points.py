"""The table of extension points.

Specification: v3.1, "Extension points".  Format, store, display, native and hooks are
extension points of this library; ``chunk_memory_layout`` is one of the draft of December 2022.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from inspect import get_annotations, getattr_static
from reprlib import repr as short
from typing import Any

_KINDS = {"bool": bool, "int": int, "str": str, "tuple": tuple}
_ATTRIBUTE = re.compile(r"(ClassVar\[)?(bool|int|str|tuple)\b")


@dataclass(frozen=True, slots=True)
class ExtensionPoint:
    """An extension point.

    ``interface`` is the base class of its extensions in ``zarr_core.interfaces``,
    ``module:Class``; empty if any object is accepted.  ``can_be_ignored``: an unknown extension
    with ``must_understand`` false is no error.
    """

    name: str
    interface: str
    can_be_ignored: bool = False

    @property
    def group(self) -> str:
        """The group of entry points."""
        return f"zarr_core.{self.name}"

    @property
    def title(self) -> str:
        """The name as words."""
        return self.name.replace("_", " ")

    def interface_class(self) -> type[Any]:
        """Import and return the interface."""
        module, _, name = self.interface.partition(":")
        return getattr(import_module(f"zarr_core.interfaces.{module}"), name) if module else object

    def problem(self, extension: object) -> str:
        """Why an object is not a valid extension; empty if it is."""
        if not self.interface:
            return ""
        interface = self.interface_class()
        if not isinstance(extension, type) or not issubclass(extension, interface):
            # The full representation of an object can be long or contain secrets.
            shown = repr(extension) if isinstance(extension, type) else short(extension)
            return f"{shown} is not a class derived from {interface.__name__}"
        if missing := sorted(getattr(extension, "__abstractmethods__", ())):
            return f"{extension.__qualname__} does not define {', '.join(missing)}"
        unset: list[str] = []
        for base in interface.__mro__:
            for name, declared in get_annotations(base).items():
                value, kind = getattr_static(extension, name, unset), _ATTRIBUTE.match(declared)
                if value is unset:
                    unset += [name] if declared.startswith("ClassVar") else []
                elif kind and not isinstance(value, _KINDS[kind[2]]):
                    is_optional = value is None and "None" in declared
                    if not is_optional and not hasattr(value, "__get__"):
                        wanted = declared[len(kind[1] or "") : -1 if kind[1] else None]
                        return (
                            f"{extension.__qualname__}.{name} must be {wanted}, not {short(value)}"
                        )
        if unset:
            return (
                f"{extension.__qualname__} does not define the class attributes {', '.join(unset)}"
            )
        return ""


# v3.1: `must_understand=False` is not supported for data type, chunk grid and
# chunk key encoding.  The order is that of listings.
_POINTS = (
    ExtensionPoint("codec", "codec:Codec", can_be_ignored=True),
    ExtensionPoint("data_type", "data_type:DataType"),
    ExtensionPoint("chunk_grid", "chunk_grid:ChunkGrid"),
    ExtensionPoint("chunk_key_encoding", "chunk_key_encoding:ChunkKeyEncoding"),
    ExtensionPoint("chunk_memory_layout", "chunk_memory_layout:ChunkMemoryLayout"),
    ExtensionPoint(
        "storage_transformer", "storage_transformer:StorageTransformer", can_be_ignored=True
    ),
    ExtensionPoint("extension", "metadata_extension:MetadataExtension", can_be_ignored=True),
    ExtensionPoint("format", "format:Format"),
    ExtensionPoint("store", "store:Store"),
    ExtensionPoint("display", "display:Display", can_be_ignored=True),
    ExtensionPoint("native", "native:NativeExecutor", can_be_ignored=True),
    ExtensionPoint("hooks", ""),
)
EXTENSION_POINTS = {point.name: point for point in _POINTS}


def get_extension_point(name: str) -> ExtensionPoint:
    """The extension point of a name; ValueError if there is none."""
    try:
        return EXTENSION_POINTS[name]
    except KeyError:
        raise ValueError(
            f"unknown extension point {name!r}; expected one of {', '.join(EXTENSION_POINTS)}"
        ) from None
