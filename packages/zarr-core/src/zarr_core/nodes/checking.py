"""Letting plugins object to the metadata of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, MetadataValidationError, ZarrError
from zarr_core.metadata.problem import Problem, json_pointer
from zarr_core.names import located
from zarr_core.registry import hooks
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import make, reason

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.metadata_extension import MetadataExtension
    from zarr_core.interfaces.store import Store


def check(store: Store, path: str, metadata: NodeMetadata) -> None:
    """Ask the extensions that further members name, and the hooks, if there are any.

    Parameters
    ----------
    store, path
        Where the node is, or will be; for messages.
    metadata : ArrayMetadata or GroupMetadata
        What was read, or is about to be written.

    Raises
    ------
    ExtensionError
        If nobody understands a further member that must be understood, or if the
        extension for it is broken or refuses it.
    MetadataValidationError
        If an extension or a hook objects to the document.
    """
    members = metadata.additional_fields
    if not members and not hooks.active():
        return
    where = located(store, path)
    document = metadata.to_json()
    problems = hooks.check_metadata(where, document)
    for name, value in members.items():
        try:
            extension = make("extension", _definition(name, value), where, json_pointer(name))
        except ExtensionConfigurationError as error:
            raise _located(error, json_pointer(name), value) from error
        if extension is not None:
            problems += _objections(extension, document, where, json_pointer(name))
    if problems:
        raise MetadataValidationError(where, problems)


def _objections(
    extension: MetadataExtension, document: dict[str, JSON], where: str, pointer: str
) -> list[Problem]:
    """What an extension objects to; a failure of its code is told with the member's place."""
    try:
        problems = list(extension.check(document))
        if strangers := [item for item in problems if not isinstance(item, Problem)]:
            raise TypeError(f"check gave {strangers[0]!r}, which is no Problem")
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        failure = Problem(pointer, f"the extension for this member failed: {reason(error)}")
        raise MetadataValidationError(where, [failure]) from error
    return problems


def _definition(name: str, value: JSON) -> ExtensionDefinition:
    """A member as a definition: its name is the extension's, the rest its configuration."""
    members: dict[str, JSON] = value if isinstance(value, dict) else {"value": value}
    return ExtensionDefinition(
        name,
        {key: item for key, item in members.items() if key != "must_understand"},
        members.get("must_understand", True) is not False,
    )


def _located(
    error: ExtensionConfigurationError, pointer: str, value: JSON
) -> ExtensionConfigurationError:
    """The same error, with pointers into the document: there the member is the configuration."""
    problems = []
    for problem in error.problems:
        place = problem.pointer.removeprefix(pointer).removeprefix("/configuration")
        if not isinstance(value, dict):  # it is the only member, which we called so
            place = place.removeprefix("/value")
        problems.append(Problem(pointer + place, problem.message))
    return ExtensionConfigurationError(error.kind, error.extension_name, error.where, problems)
