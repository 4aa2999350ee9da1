"""Where nodes come from, where they go to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


@dataclass(frozen=True, slots=True)
class Ends:
    """Where nodes come from, where they go to.

    Parameters
    ----------
    format_ : Format
        That of the nodes.
    source, source_path
        The node, or group of nodes, that is copied.
    dest_format : Format
        That of the copies; another one only if chunks are decoded.
    dest, dest_path
        What becomes of it.
    """

    format_: Format
    source: Store
    source_path: str
    dest_format: Format
    dest: Store
    dest_path: str

    def target(self, path: str) -> str:
        """Path that a node at or below the source path gets."""
        relative = path[len(self.source_path) :].lstrip("/")
        return f"{self.dest_path}/{relative}".strip("/")

    def prefixes(self, path: str) -> list[tuple[str, str]]:
        """Prefixes below which all else of a node lies, each with that of a copy as it is."""
        new = self.dest_format.prefixes(self.target(path))
        return list(zip(self.format_.prefixes(path), new, strict=True))

    def turned(self) -> Ends:
        """The same, back again."""
        return Ends(
            self.dest_format, self.dest, self.dest_path, self.format_, self.source, self.source_path
        )


def lies_in(path: str, other: str) -> bool:
    """Whether a path is another, or below it."""
    return not other or f"{path}/".startswith(f"{other}/")
