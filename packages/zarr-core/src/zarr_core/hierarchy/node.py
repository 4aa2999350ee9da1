"""What arrays and groups have in common; changes of the metadata of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    ExtensionConfigurationError,
    MetadataValidationError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
    ZarrError,
)
from zarr_core.hierarchy.attributes import Attributes
from zarr_core.interfaces.keylock import key_lock
from zarr_core.interfaces.store import READ_ONLY
from zarr_core.metadata.validation import ARRAY_MEMBERS, GROUP_MEMBERS
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer
from zarr_core.names import located
from zarr_core.registry import hooks
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import create_extension, reason
from zarr_core.strictjson import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Self

    from zarr_core.definition import JSON
    from zarr_core.engine.stored_node import StoredNode
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.metadata_extension import MetadataExtension
    from zarr_core.interfaces.store import Store


M = TypeVar("M", bound="NodeMetadata")


class Node(Generic[M]):
    """A node of a hierarchy.

    Attributes
    ----------
    stored : StoredArray or StoredGroup
        The node as it is stored: its format, its chunks or members, without this interface.
        It is replaced when the metadata changes.
    read_only : bool
        Whether the node is read-only.
    """

    stored: StoredNode[M]

    def __init__(self, stored: StoredNode[M], *, read_only: bool = False) -> None:
        self.stored = stored
        self.read_only = read_only or stored.store.read_only or bool(stored.ignored_extensions)

    @property
    def store(self) -> Store:
        """The store of the node."""
        return self.stored.store

    @property
    def path(self) -> str:
        """Its path in the store, without leading slash; empty for the root."""
        return self.stored.path

    @property
    def metadata(self) -> M:
        """The metadata, as of opening or the last change through this object."""
        return self.stored.metadata

    @property
    def name(self) -> str:
        """Path with a leading slash, as in ``/foo/bar``."""
        return f"/{self.stored.path}"

    @property
    def basename(self) -> str:
        """The last part of the path; empty for the root."""
        return self.stored.path.rpartition("/")[2]

    @property
    def zarr_format(self) -> int:
        """Version of the format that the node is stored in."""
        return self.stored.format.zarr_format

    @property
    def attrs(self) -> Attributes:
        """The attributes, to be read and changed like a dictionary."""
        return Attributes(self)

    @attrs.setter
    def attrs(self, attributes: Mapping[str, Any]) -> None:
        self.attrs.put(attributes)

    def update_attributes(self, attributes: Mapping[str, Any]) -> Self:
        """Set some attributes and keep the others; returns the node."""
        self.attrs.update(attributes)
        return self

    def update_additional_fields(self, fields: Mapping[str, JSON]) -> Self:
        """Set members of the document that the specification does not define; keep the others.

        For extensions of the extension point ``extension`` (v3.1, "Additional fields"), which may object.

        Parameters
        ----------
        fields : mapping
            Names, each with its value in JSON, mostly an object; None removes a member.  One
            that others need not understand has the member ``"must_understand": false``.

        Returns
        -------
        Node
            This one.

        Raises
        ------
        UnknownExtensionError
            If an additional field must be understood and is unknown.
        ExtensionConfigurationError, MetadataValidationError
            If whoever understands it refuses it, the format has no such members, or a value
            has no JSON form.
        ValueError
            If the specification defines a member of that name.
        """
        if defined := sorted(fields.keys() & {*ARRAY_MEMBERS, *GROUP_MEMBERS}):
            raise ValueError(
                f"{', '.join(defined)}: not an additional field: the specification defines it"
            )
        given: Any = plain(dict(fields), self.stored.location)

        def change(metadata: Any) -> Any:
            members = {**metadata.additional_fields, **given}
            kept = {name: value for name, value in members.items() if value is not None}
            return metadata.replace(additional_fields=kept)

        update_metadata(self, change)
        return self

    def refresh(self) -> None:
        """Read the metadata again, to see changes by others.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        NodeTypeError
            If it has become a node of the other type.
        """
        stored = self.stored
        with _exclusive(self):
            metadata = stored.format.read(stored.store, stored.path)
            if metadata is None:
                raise NodeNotFoundError(stored.location, "the node has been removed")
            _replace_metadata(self, metadata)

    def check_writable(self) -> None:
        """Raise if the node is read-only.

        Raises
        ------
        StoreReadOnlyError
            If the node or its store was opened for reading only, or unknown extensions of the
            node are ignored.
        """
        if not self.read_only:
            return
        stored = self.stored
        if stored.ignored_extensions:
            names = ", ".join(definition.name for definition in stored.ignored_extensions)
            reason = f"is read-only because the extensions {names} are not installed; install them"
        elif stored.store.read_only:
            reason = READ_ONLY
        else:
            reason = 'opened for reading only; open it with mode="r+"'
        raise StoreReadOnlyError(reason, stored.location)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same location; contents are not compared."""
        # Not NotImplemented: NumPy would read the array to compare its elements.
        return (
            isinstance(other, Node)
            and type(other) is type(self)
            and bool(self.store == other.store)
            and self.path == other.path
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.path))  # equal stores may have different URLs


def update_metadata(node: Node[M], change: Callable[[M], M]) -> None:
    """Change the stored metadata of a node; concurrent changes are kept.

    Consolidated metadata of the group through which the node was opened is updated too.

    Parameters
    ----------
    node : Array or Group
        The node; it receives the new metadata.
    change : callable
        Receives the stored metadata and returns the new.
    """
    node.check_writable()
    stored = node.stored

    def checked(metadata: NodeMetadata) -> M:
        changed = change(_of_same_type(node, metadata))
        validate_node(stored.store, stored.path, changed)
        return changed

    # Threads that share the object see changes in the order in which they were stored.
    with _exclusive(node):
        _replace_metadata(node, stored.format.update(stored.store, stored.path, checked))
    node.stored.record(there=[stored.path])


def _exclusive(node: Node[Any]) -> AbstractContextManager[None]:
    """Exclude the other threads that share the object; safe after a fork."""
    return key_lock(id(node), node.stored.path)


def _replace_metadata(node: Node[M], metadata: NodeMetadata) -> None:
    node.stored = node.stored.with_metadata(_of_same_type(node, metadata))
    node.read_only = node.read_only or bool(node.stored.ignored_extensions)


def _of_same_type(node: Node[M], metadata: NodeMetadata) -> M:
    if not isinstance(metadata, type(node.stored.metadata)):
        raise NodeTypeError(node.stored.location, "has become a node of the other type")
    return metadata


def validate_node(store: Store, path: str, metadata: NodeMetadata) -> None:
    """Validate metadata with the extensions that its additional fields name, and with hooks.

    Parameters
    ----------
    store, path
        The location of the node; for messages.
    metadata : ArrayMetadata or GroupMetadata
        The metadata that was read or will be written.

    Raises
    ------
    ExtensionError
        If an additional field must be understood and is unknown, or if its extension is
        broken or rejects it.
    MetadataValidationError
        If an extension or a hook reports a problem.
    """
    members = metadata.additional_fields
    if not members and not hooks.active():
        return
    where = located(store, path)
    document = metadata.to_json()
    problems = hooks.check_metadata(where, document)
    for name, value in members.items():
        try:
            extension = create_extension(
                "extension", _definition(name, value), where, json_pointer(name)
            )
        except ExtensionConfigurationError as error:
            raise _located(error, json_pointer(name), value) from error
        if extension is not None:
            problems += _problems(extension, document, where, json_pointer(name))
    if problems:
        raise MetadataValidationError(where, problems)


def _problems(
    extension: MetadataExtension, document: dict[str, JSON], where: str, pointer: str
) -> list[ValidationProblem]:
    """The problems that an extension reports; errors in its code become problems."""
    try:
        problems = list(extension.check(document))
        if others := [item for item in problems if not isinstance(item, ValidationProblem)]:
            raise TypeError(f"check returned {others[0]!r}, which is not a ValidationProblem")
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        failure = ValidationProblem(
            pointer, f"the extension for this field failed: {reason(error)}"
        )
        raise MetadataValidationError(where, [failure]) from error
    return problems


def _definition(name: str, value: JSON) -> ExtensionDefinition:
    """An additional field as a definition: the rest of it is the configuration."""
    members: dict[str, JSON] = value if isinstance(value, dict) else {"value": value}
    return ExtensionDefinition(
        name,
        {key: item for key, item in members.items() if key != "must_understand"},
        members.get("must_understand", True) is not False,
    )


def _located(
    error: ExtensionConfigurationError, pointer: str, value: JSON
) -> ExtensionConfigurationError:
    """The same error, with pointers into the metadata: the field is the configuration."""
    problems = []
    for problem in error.problems:
        rest = problem.pointer.removeprefix(pointer).removeprefix("/configuration")
        if not isinstance(value, dict):  # see _definition
            rest = rest.removeprefix("/value")
        problems.append(ValidationProblem(pointer + rest, problem.message))
    return ExtensionConfigurationError(
        error.extension_point, error.extension_name, error.where, problems
    )
