"""Errors as programs for zarr-python catch them, each also of the built-in kind they expect."""

from __future__ import annotations

from typing import Any

from zarr_core.extension import MetadataValidationError as CoreMetadataValidationError
from zarr_core.extension import (
    NodeExistsError,
    NodeTypeError,
    StoreReadOnlyError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.extension import NodeNotFoundError as CoreNodeNotFoundError
from zarr_core.extension import SelectionError as CoreSelectionError

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "BaseZarrError",
    "BoundsCheckError",
    "ContainsArrayAndGroupError",
    "ContainsArrayError",
    "ContainsGroupError",
    "GroupNotFoundError",
    "MetadataValidationError",
    "NegativeStepError",
    "NodeNotFoundError",
    "NodeTypeValidationError",
    "PathNotFoundError",
    "ReadOnlyError",
    "UnknownCodecError",
    "UnstableSpecificationWarning",
    "VindexInvalidSelectionError",
    "ZarrDeprecationWarning",
    "ZarrFutureWarning",
    "ZarrRuntimeWarning",
    "ZarrUserWarning",
    "translated",
]


class BaseZarrError(ValueError):
    """Root of those errors that are made here."""


# The class of the operating system's errors stands first: it alone can make objects of theirs,
# also for who makes them without calling the class, as distributed does with what workers raise.
class NodeNotFoundError(FileNotFoundError, BaseZarrError, LookupError):
    """There is no node at this path."""


class ArrayNotFoundError(NodeNotFoundError):
    """There is no array at this path."""


class GroupNotFoundError(NodeNotFoundError):
    """There is no group at this path."""


class ContainsNodeError(FileExistsError, BaseZarrError):
    """There is something at this path already."""


class NodeTypeValidationError(CoreMetadataValidationError, TypeError):
    """An array was asked for where a group is, or the other way round."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ())

    def __str__(self) -> str:
        return self.where

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.where,)


class NoOneShapeError(NotImplementedError, ValueError):
    """The chunks of an array have differing lengths."""


class UnknownCodecError(BaseZarrError, LookupError):
    """Nobody has a codec of this name."""


# The same facts, by the classes of the core: these are raised and caught alike.
MetadataValidationError = CoreMetadataValidationError
ReadOnlyError = StoreReadOnlyError
BoundsCheckError = CoreSelectionError
VindexInvalidSelectionError = CoreSelectionError
NegativeStepError = CoreSelectionError
ArrayIndexError = CoreSelectionError
PathNotFoundError = NodeNotFoundError
# The core does not look which of the two is in the way.
ContainsArrayError = ContainsGroupError = ContainsArrayAndGroupError = ContainsNodeError


class ZarrUserWarning(UserWarning):
    """For filters of warnings that name it; never given."""


class ZarrDeprecationWarning(DeprecationWarning):
    """For filters of warnings that name it; never given."""


class ZarrFutureWarning(FutureWarning):
    """For filters of warnings that name it; never given."""


class ZarrRuntimeWarning(RuntimeWarning):
    """For filters of warnings that name it; never given."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """For filters of warnings that name it; never given."""


def translated(error: ZarrError, sought: type[NodeNotFoundError] = NodeNotFoundError) -> Exception:
    """The error that a program for zarr-python expects in place of one of the core's.

    Parameters
    ----------
    error : ZarrError
        What the core raised.
    sought : type
        What is raised if nothing was found.

    Returns
    -------
    Exception
        The same error if it may stay.
    """
    if isinstance(error, CoreNodeNotFoundError):
        # Programs look for such words.
        what = "group" if issubclass(sought, GroupNotFoundError) else "array"
        found = "" if sought is NodeNotFoundError else f"No {what} found in store: "
        return sought(f"{found}{error}")
    if isinstance(error, NodeExistsError):
        return ContainsNodeError(str(error))
    if isinstance(error, NodeTypeError):
        return NodeTypeValidationError(str(error))
    if isinstance(error, UnknownExtensionError) and error.kind == "codec":
        return UnknownCodecError(str(error))
    return error
