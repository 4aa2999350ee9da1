"""The base class of arrays and groups, their attributes, and changes of their metadata."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_core.definition import freeze
from zarr_core.engine.stored_node import StoredNode
from zarr_core.hierarchy.from_metadata import pickled_state, reopen, validate_node
from zarr_core.interfaces.keys import key_lock
from zarr_core.metadata.attributes import check_attributes
from zarr_core.metadata.validation import ARRAY_MEMBERS, GROUP_MEMBERS
from zarr_core.optional import MissingAttributeError
from zarr_core.strictjson import plain, plain_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from zarr_core.definition import JSON
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Store


M = TypeVar("M", bound="NodeMetadata")


class Node(Generic[M]):
    """A node of a hierarchy.

    Attributes
    ----------
    stored : StoredArray or StoredGroup
        The stored node: its format, and its chunks or members.  Replaced when the metadata
        changes.
    """

    stored: StoredNode[M]

    def __init__(self, stored: StoredNode[M], *others: object, **named: object) -> None:
        node: object = stored
        if others or named or not isinstance(node, StoredNode):
            kind = type(self).__name__.lower()
            raise TypeError(
                f"use open_{kind} or create_{kind} to get {'an' if kind[0] == 'a' else 'a'} {kind} "
                f"from a store or location; {type(self).__name__} takes a StoredNode"
            )
        self.stored = stored

    @property
    def read_only(self) -> bool:
        """Whether the node is read-only."""
        return self.stored.read_only

    @property
    def store(self) -> Store:
        """The store of the node."""
        return self.stored.store

    @property
    def path(self) -> str:
        """Path in the store, without leading slash; empty for the root."""
        return self.stored.path

    @property
    def metadata(self) -> M:
        """The metadata at opening, or after the last change or refresh of this object."""
        return self.stored.metadata

    @property
    def name(self) -> str:
        """Path with a leading slash, as in ``/foo/bar``."""
        return self.stored.name

    @property
    def basename(self) -> str:
        """The last part of the path; empty for the root."""
        return self.stored.path.rpartition("/")[2]

    @property
    def zarr_format(self) -> int:
        """Version of the format of the node."""
        return self.stored.format.zarr_format

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a dictionary that can be changed."""
        return Attributes(self)

    @attrs.setter
    def attrs(self, attributes: Mapping[str, Any]) -> None:
        self.attrs.put(attributes)

    def update_attributes(self, attributes: Mapping[str, Any]) -> Self:
        """Set some attributes, keep the others, and return the node."""
        self.attrs.update(attributes)
        return self

    def refresh(self) -> None:
        """Read the metadata again, to see changes by other writers.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        NodeTypeError
            If it has become a node of the other type.
        """
        stored = self.stored
        stored.check_not_fixed()
        with key_lock(id(self), stored.path):
            self.stored = stored.read_again()

    if not TYPE_CHECKING:  # a type checker would permit every attribute

        def __getattr__(self, name: str) -> Any:
            # Called for an unknown attribute, and after a property raised an AttributeError.
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises the error of the property
            message = f"{type(self).__name__} has no attribute {name!r}"
            member = f"; for a member use group[{name!r}]" if hasattr(type(self), "keys") else ""
            raise MissingAttributeError(message, member, name=name, obj=self)

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

    @property
    def info(self) -> Mapping[str, str]:
        """Properties of the node, as a table; does not access the store."""
        rows: Mapping[str, str] = self._displayed("info", self.stored)
        return rows

    def info_complete(self) -> Mapping[str, str]:
        """Properties of the node, with its stored size or members; lists the store."""
        rows: Mapping[str, str] = self._displayed("info", self.stored, True)
        return rows

    def _repr_html_(self) -> str | None:
        html: str | None = self._displayed("html", self.stored)
        return html

    def _displayed(self, method: str, *arguments: Any) -> Any:
        from zarr_core.hierarchy.display import displayed

        return displayed(self.stored, method, *arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return reopen, (type(self), *pickled_state(self.stored))


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or group.

    Every change is stored immediately, under the lock of the stored metadata: concurrent changes
    of different attributes are kept.  If storing fails, this object is unchanged.  NumPy scalars
    and arrays become JSON numbers and lists.  NaN and infinity are not valid JSON and raise an
    error; existing ones from other writers are kept.  Lists and dictionaries in attributes cannot
    be changed in place, which would not be stored; those of :meth:`asdict` and other copies can.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> group = zarr.create_group()
    >>> group.attrs["answer"] = 42
    >>> group.attrs.asdict()
    {'answer': 42}
    >>> group.attrs["levels"] = [1, 2]
    >>> group.attrs["levels"] = [*group.attrs["levels"], 4]
    """

    __slots__ = ("_node",)

    def __init__(self, node: Node[Any]) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        return freeze(plain_floats(self._node.stored.metadata.attributes[name]))

    def __contains__(self, name: object) -> bool:
        return name in self._node.metadata.attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self._node.metadata.attributes)

    def __len__(self) -> int:
        return len(self._node.metadata.attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        def change(stored: dict[str, JSON]) -> dict[str, JSON]:
            if name not in stored:
                raise KeyError(name)
            return {key: value for key, value in stored.items() if key != name}

        self._change(change)

    def update(  # type: ignore[override]  # one write for all items
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any
    ) -> None:
        """Set several attributes in one write."""
        new = {**self._checked(other), **(self._checked(more) if more else {})}
        if new:
            self._change(lambda stored: {**stored, **new})

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all attributes in one write.

        Raises
        ------
        AttributeValueError
            If a value has no JSON form, or a name is not a string; a ``TypeError`` and
            ``ValueError``.
        """
        new = self._checked(attributes)
        self._change(lambda _: new)

    def clear(self) -> None:
        """Remove all attributes in one write."""
        self.put({})

    def asdict(self) -> dict[str, JSON]:
        """A copy as a plain dictionary."""
        attributes: dict[str, JSON] = plain_floats(self._node.metadata.attributes)
        return attributes

    def refresh(self) -> None:
        """Read the attributes again, to see changes by other writers."""
        self._node.refresh()

    def _checked(self, attributes: Any) -> dict[str, JSON]:
        return check_attributes(
            attributes, self._node.stored.location, self._node.metadata.attributes
        )

    def _change(self, change: Callable[[dict[str, JSON]], dict[str, JSON]]) -> None:
        update_metadata(
            self._node, lambda metadata: metadata.replace(attributes=change(metadata.attributes))
        )

    def __repr__(self) -> str:
        return repr(self.asdict())

    def _repr_html_(self) -> str | None:
        from zarr_core.hierarchy.display import displayed

        html: str | None = displayed(self._node.stored, "html", self)
        return html


def update_metadata(node: Node[M], change: Callable[[M], M]) -> None:
    """Change the stored metadata of a node, also in consolidated metadata of a group above it."""
    stored = node.stored
    stored.check_writable()
    stored.check_not_fixed()

    # Receives what is stored, so concurrent changes by other writers are kept.
    def checked(metadata: NodeMetadata) -> M:
        changed = change(stored.same_type(metadata))
        validate_node(stored.store, stored.path, changed)
        return changed

    # Other threads see changes of this object in the order in which they were stored.
    with key_lock(id(node), stored.path):
        metadata = stored.format.update(stored.store, stored.path, checked)
        node.stored = stored.with_metadata(stored.same_type(metadata))
    node.stored.record(changed=[stored.path])


def update_additional_fields(node: Node[Any], fields: Mapping[str, JSON]) -> None:
    """Set metadata fields of an array or group that the specification does not define.

    Extensions of the extension point ``extension`` validate them (v3.1, "Additional fields").

    Parameters
    ----------
    node : Array or Group
        The node.
    fields : mapping
        Names and JSON values, mostly objects; None removes a field.  Other fields are kept.
        An object with ``"must_understand": false`` may be ignored by readers that do not know
        it.

    Raises
    ------
    UnknownExtensionError
        If an additional field must be understood and is unknown.
    ExtensionConfigurationError, MetadataValidationError
        If its extension rejects it, the format has no such fields, or a value has no JSON
        form.
    ValueError
        If the specification defines a field of that name.
    """
    if defined := sorted(fields.keys() & {*ARRAY_MEMBERS, *GROUP_MEMBERS}):
        raise ValueError(
            f"{', '.join(defined)}: not an additional field: the specification defines it"
        )
    values: Any = plain(dict(fields), node.stored.location)

    def change(metadata: Any) -> Any:
        members = {**metadata.additional_fields, **values}
        kept = {name: value for name, value in members.items() if value is not None}
        return metadata.replace(additional_fields=kept)

    update_metadata(node, change)
