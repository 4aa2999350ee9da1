"""The attributes of a node, as a mapping that writes through."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from zarr_core.given.attributes import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.node import Node


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or group.

    Every change is stored at once.  It is made on the stored document, under its
    lock, so writers of different attributes lose nothing; and it is made there
    first, so after a failure this object shows what it showed before.  NumPy
    scalars and arrays become JSON numbers and lists.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> group = zarr.create_group()
    >>> group.attrs["answer"] = 42
    >>> group.attrs.asdict()
    {'answer': 42}
    """

    __slots__ = ("_node",)

    def __init__(self, node: Node[Any]) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        # Documents are shared between nodes that have the same: hand out nothing of them.
        return deepcopy(self._node._attributes()[name])

    def __contains__(self, name: object) -> bool:
        return name in self._node._attributes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._node._attributes())

    def __len__(self) -> int:
        return len(self._node._attributes())

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        def change(stored: dict[str, JSON]) -> dict[str, JSON]:
            if name not in stored:
                raise KeyError(name)
            return {key: value for key, value in stored.items() if key != name}

        self._change(change)

    def update(  # type: ignore[override]  # one write, where the mixin makes one an item
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any
    ) -> None:
        """Set several attributes in one write."""
        new = checked(dict(other, **more), self._node._where())
        if new:
            self._change(lambda stored: {**stored, **new})

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all attributes in one write.

        Raises
        ------
        AttributeValueError
            If a value has no JSON form, or a name is no string; it is a ``TypeError``
            and a ``ValueError`` too.
        """
        new = checked(attributes, self._node._where())
        self._change(lambda _: new)

    def clear(self) -> None:
        """Remove all attributes in one write."""
        self.put({})

    def asdict(self) -> dict[str, JSON]:
        """A copy as a plain dictionary."""
        return deepcopy(self._node._attributes())

    def refresh(self) -> None:
        """Read the attributes again, to see what others have changed."""
        self._node.refresh()

    def _change(self, change: Callable[[dict[str, JSON]], dict[str, JSON]]) -> None:
        self._node._rewrite(
            lambda metadata: metadata.replace(attributes=change(metadata.attributes))
        )

    def __repr__(self) -> str:
        return repr(self.asdict())

    def _repr_html_(self) -> str:
        from zarr_core.display.html_attributes import attributes_html  # noqa: PLC0415 - lazy: for people only

        return attributes_html(self._node._attributes())
