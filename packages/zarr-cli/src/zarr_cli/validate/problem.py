"""Problems of metadata, with their locations."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.errors import ExtensionError, MetadataError, UnknownExtensionError
from zarr_core.extension import CodecError, ExtensionConfigurationError, ZarrError
from zarr_core.messages import printable_message

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class NodeProblem:
    """One problem of one node.

    Parameters
    ----------
    path : str
        The path of the node, with a leading slash.
    pointer : str
        The JSON pointer into its metadata, in the form of version 3; empty for the whole
        document.
    message : str
        The problem, and what to do.
    kind : {"document", "extension", "consolidated", "store"}
        The source of the problem: the metadata document; an extension that is unknown, broken,
        in conflict or rejects its configuration; consolidated metadata that is out of date;
        the store.
    severity : {"error", "warning"}
        With an error, the node cannot be read or its values are wrong.
    """

    path: str
    pointer: str
    message: str
    kind: Literal["document", "extension", "consolidated", "store"] = "document"
    severity: Literal["error", "warning"] = "error"

    @property
    def is_error(self) -> bool:
        """Whether it is an error, not a warning."""
        return self.severity == "error"

    def to_json(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        return asdict(self)


def problems_from_error(error: ZarrError, path: str, pointer: str = "") -> Iterator[NodeProblem]:
    """Yield the problems of an error."""
    if isinstance(error, (MetadataError, ExtensionConfigurationError)):
        kind: Any = "document" if isinstance(error, MetadataError) else "extension"
        for problem in error.problems:
            yield NodeProblem(path, problem.pointer, problem.message, kind)
    elif isinstance(error, UnknownExtensionError):
        own = error.location.rpartition(" at ")[2]
        message = str(error).removeprefix(f"{printable_message(error.location)}: ")
        yield NodeProblem(path, own if own.startswith("/") else pointer, message, "extension")
    else:
        kind = "extension" if isinstance(error, ExtensionError) else "document"
        position = (
            "/codecs" if isinstance(error, CodecError) else pointer
        )  # the codecs do not fit together
        yield NodeProblem(path, position, str(error), kind)
