"""The attributes of a node, as a mapping; changes are stored immediately."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from zarr_core.definition import read_only
from zarr_core.metadata.attributes import check_attributes
from zarr_core.strictjson import plain_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.node import Node


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
        return read_only(plain_floats(self._node.stored.metadata.attributes[name]))

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
        location, known = self._node.stored.location, self._node.metadata.attributes
        new = {
            **check_attributes(other, location, known),
            **(check_attributes(more, location, known) if more else {}),
        }
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
        new = check_attributes(
            attributes, self._node.stored.location, self._node.metadata.attributes
        )
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

    def _change(self, change: Callable[[dict[str, JSON]], dict[str, JSON]]) -> None:
        from zarr_core.hierarchy.node import update_metadata  # circular import

        update_metadata(
            self._node, lambda metadata: metadata.replace(attributes=change(metadata.attributes))
        )

    def __repr__(self) -> str:
        return repr(self.asdict())

    def _repr_html_(self) -> str | None:
        from zarr_core.hierarchy.display import displayed

        html: str | None = displayed(self._node.stored, "html", self)
        return html
