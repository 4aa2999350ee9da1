"""Errors of zarr-python, which also derive from the built-in classes that programs catch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn
from zipfile import BadZipFile

from zarr_core.errors import NodeExistsError, NodeTypeError, UnknownExtensionError
from zarr_core.errors import SelectionError as CoreSelectionError
from zarr_core.extension import MetadataValidationError as CoreMetadataValidationError
from zarr_core.extension import NodeNotFoundError as CoreNodeNotFoundError
from zarr_core.extension import StoreError, StoreReadError, StoreReadOnlyError, ZarrError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "BaseZarrError",
    "BoundsCheckError",
    "ContainsArrayAndGroupError",
    "ContainsArrayError",
    "ContainsGroupError",
    "GroupNotFoundError",
    "MetadataError",
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
    "raise_translated",
    "translate_error",
    "translate_errors",
]


class BaseZarrError(ValueError):
    """Base class of the errors of this module."""


# FileNotFoundError is the first base class: only its __new__ can create instances, also if the
# class is not called, as in distributed.
class NodeNotFoundError(FileNotFoundError, BaseZarrError, LookupError):
    """The path has no node."""


class ArrayNotFoundError(NodeNotFoundError):
    """The path has no array."""


class GroupNotFoundError(NodeNotFoundError):
    """The path has no group."""


class ContainsNodeError(FileExistsError, BaseZarrError):
    """A node exists at the path."""


class NodeTypeValidationError(CoreMetadataValidationError, TypeError):
    """An array was requested where a group exists, or vice versa."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ())

    def _message(self) -> str:
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.location,)


class IrregularChunksError(NotImplementedError, ValueError):
    """The chunks of an array are irregular."""


class StoreOpenError(OSError, BaseZarrError):
    """A store cannot be opened, for example because the path is not a directory or an archive."""


class BadArchiveError(StoreOpenError, BadZipFile):
    """A file is not a zip archive, or is not complete."""


class UnknownCodecError(BaseZarrError, LookupError):
    """Unknown codec."""


# Aliases of classes of the core.
MetadataError = MetadataValidationError = CoreMetadataValidationError
ReadOnlyError = StoreReadOnlyError
BoundsCheckError = CoreSelectionError
VindexInvalidSelectionError = CoreSelectionError
NegativeStepError = CoreSelectionError
ArrayIndexError = CoreSelectionError
PathNotFoundError = NodeNotFoundError
# The core does not distinguish which of them exists.
ContainsArrayError = ContainsGroupError = ContainsArrayAndGroupError = ContainsNodeError


class ZarrUserWarning(UserWarning):
    """An argument or a method is deprecated, without effect, or not specified."""


class ZarrDeprecationWarning(DeprecationWarning):
    """An argument or a method is deprecated, without effect, or not specified."""


class ZarrFutureWarning(FutureWarning):
    """For warning filters only; never issued."""


class ZarrRuntimeWarning(RuntimeWarning):
    """An argument or a method is deprecated, without effect, or not specified."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """For warning filters only; never issued."""


def translate_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function raise the errors of zarr-python instead of those of the core."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except ZarrError as error:
            raise_translated(error)

    return call


def raise_translated(
    error: ZarrError, not_found: type[NodeNotFoundError] = NodeNotFoundError
) -> NoReturn:
    """Raise the error of zarr-python for an error of the core; ``not_found`` for a missing node."""
    other = translate_error(error, not_found)
    if other is error or other is error.__cause__:
        raise other
    raise other from error


def translate_error(
    error: ZarrError, not_found: type[NodeNotFoundError] = NodeNotFoundError
) -> Exception:
    """Return the error of zarr-python for an error of the core; the same if it has no other class."""
    if isinstance(error, CoreNodeNotFoundError):
        # Programs search for this text.
        what = "group" if issubclass(not_found, GroupNotFoundError) else "array"
        prefix = "" if not_found is NodeNotFoundError else f"No {what} found in store: "
        return not_found(f"{prefix}{error}")
    if isinstance(error, NodeExistsError):
        return ContainsNodeError(str(error))
    if isinstance(error, NodeTypeError):
        return NodeTypeValidationError(str(error))
    if type(error) is StoreError and isinstance(error.__cause__, BadZipFile):
        return BadArchiveError(str(error))
    if (cause := _error_of_store(error)) is not None:
        cause.add_note(str(error))
        return cause
    if type(error) is StoreError:
        return StoreOpenError(str(error))
    if isinstance(error, UnknownExtensionError) and error.extension_point == "codec":
        return UnknownCodecError(str(error))
    return error


def _error_of_store(error: ZarrError) -> Exception | None:
    """Return the error with which a store failed, for which programs of zarr-python look.

    Built-in errors, except for OSError, do not tell that the store failed.
    """
    cause = error.__cause__
    if type(error) not in (StoreError, StoreReadError) or not isinstance(cause, Exception):
        return None
    is_builtin = type(cause).__module__ == "builtins"
    is_known = isinstance(cause, OSError) and type(error) is StoreReadError
    return None if isinstance(cause, ZarrError) or (is_builtin and not is_known) else cause
