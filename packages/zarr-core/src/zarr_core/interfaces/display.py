"""Display: tables, trees and HTML of nodes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core.messages import escape_controls, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_NODES = 500
_MAX_LENGTH = 1000  # characters of a name or value


class Rows(dict[str, str]):
    """Names and values, printed as lines."""

    def __repr__(self) -> str:
        lines = (f"{name} : {value}" if value else name for name, value in self.items())
        return "\n".join(escape_controls(shorten(line, _MAX_LENGTH)) for line in lines)


class Display:
    """Shows arrays and groups.  This class shows text; it is used if no extension is installed.

    The entry point ``default`` of group ``zarr_core.display`` provides another class, derived from
    this one.  An instance is created for every use, without arguments.  Nodes are passed as a
    StoredArray or StoredGroup, the attribute ``stored`` of an array or group.
    """

    def info(self, node: Any, complete: bool = False) -> Mapping[str, str]:
        """The properties of an array or group; ``complete`` permits listing the store."""
        kind = "Array" if hasattr(node.metadata, "shape") else "Group"
        rows = {"Name": node.name, "Type": kind, "Zarr format": node.format.name.removeprefix("v")}
        if kind == "Array":
            rows |= {"Data type": node.metadata.data_type.name, "Shape": str(node.metadata.shape)}
        return Rows(rows, **{"Read-only": str(node.read_only), "Store": str(node.store)})

    def tree(self, group: Any, level: int | None = None) -> object:
        """The hierarchy below a group, with at most ``level`` levels."""

        def below(path: str, depth: int) -> Iterator[tuple[str, str]]:
            if depth == level:
                return
            for name, metadata in group.children(path):
                child = f"{path}/{name}" if path else name
                if hasattr(metadata, "shape"):
                    yield f"/{child}", f"{metadata.shape} {metadata.data_type.name}"
                else:
                    yield f"/{child}", ""
                    yield from below(child, depth + 1)

        return Rows(islice(below(group.path, 0), _MAX_NODES))

    def html(self, shown: Any) -> str | None:
        """HTML for a notebook of a node or of Attributes; None to show text."""
        return None
