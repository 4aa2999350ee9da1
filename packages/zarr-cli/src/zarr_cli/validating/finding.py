"""Something wrong with a document: where it is, what it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import (
    CodecError,
    ExtensionConfigurationError,
    ExtensionError,
    MetadataError,
    UnknownExtensionError,
    ZarrError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one node.

    Parameters
    ----------
    path : str
        The node, with a leading slash.
    pointer : str
        JSON pointer into its document, in the words of version 3; empty for all of it.
    message : str
        What is wrong, what to do.
    kind : {"document", "extension", "consolidated", "store"}
        What is at fault: the document; an extension that is unknown, broken, in conflict
        or refuses its configuration; copies that are out of date; the store.
    severity : {"error", "warning"}
        An error keeps somebody from reading the node, or lets them read something else.
    """

    path: str
    pointer: str
    message: str
    kind: Literal["document", "extension", "consolidated", "store"] = "document"
    severity: Literal["error", "warning"] = "error"

    def to_json(self) -> dict[str, Any]:
        """The finding as a document."""
        return asdict(self)


def findings_of(error: ZarrError, path: str, pointer: str = "") -> Iterator[Finding]:
    """What an error says, a finding for each problem.

    Parameters
    ----------
    error : ZarrError
        What the library raised.
    path : str
        The node.
    pointer : str
        Where in the document it was found, if the error does not know better.
    """
    if isinstance(error, (MetadataError, ExtensionConfigurationError)):
        kind: Any = "document" if isinstance(error, MetadataError) else "extension"
        for problem in error.problems:
            yield Finding(path, problem.pointer, problem.message, kind)
    elif isinstance(error, UnknownExtensionError):
        own = error.where.rpartition(" at ")[2]
        message = str(error).removeprefix(f"{error.where}: ")
        yield Finding(path, own if own.startswith("/") else pointer, message, "extension")
    else:
        kind = "extension" if isinstance(error, ExtensionError) else "document"
        place = "/codecs" if isinstance(error, CodecError) else pointer  # they do not fit together
        yield Finding(path, place, str(error), kind)
