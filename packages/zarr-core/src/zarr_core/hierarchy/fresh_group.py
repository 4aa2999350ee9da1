"""Groups that compare their metadata with the store before they use it."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.fresh_array import FreshArray, Freshness, same_location
from zarr_core.hierarchy.from_metadata import pickled_state, reopen
from zarr_core.hierarchy.group import Group

if TYPE_CHECKING:
    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.interfaces.format import NodeMetadata


def fresh(node: Array | Group, age: float) -> Array | Group:
    """Return an array or group that rechecks its metadata, from one that was opened just now.

    ``age`` is the number of seconds for which the metadata is used without a check.
    """
    found = (
        FreshArray(node.stored, age) if isinstance(node, Array) else FreshGroup(node.stored, age)
    )
    found.freshness.checked = monotonic()
    return found


class FreshGroup(Group):
    """A group that compares its metadata with the store before it uses it.

    Opened with the argument ``recheck``, which also applies to members that are opened through it.
    """

    def __init__(self, stored: StoredGroup, age: float) -> None:
        self.freshness = Freshness(stored, age)

    # Both types of the property are those of the attribute of Group.
    @property  # type: ignore[override]  # as above
    def stored(self) -> StoredGroup:
        """The stored group, with metadata that is not older than requested."""
        return self.freshness.current()

    @stored.setter
    def stored(self, stored: StoredGroup) -> None:
        self.freshness.replace(stored)

    def _node(self, path: str, metadata: NodeMetadata) -> Array | Group:
        found, age = super()._node(path, metadata), self.freshness.age
        # Consolidated metadata may be old: the first use of the member is a check.
        if isinstance(found, Array):
            return FreshArray(found.stored, age)
        return FreshGroup(found.stored, age)

    def create_group(self, name: str, **options: Any) -> FreshGroup:
        """As of a Group; the new group rechecks its metadata."""
        return FreshGroup(super().create_group(name, **options).stored, self.freshness.age)

    def create_array(self, name: str, **options: Any) -> Array:
        """As of a Group; the new array rechecks its metadata."""
        created = super().create_array(name, **options)
        return created if "recheck" in options else FreshArray(created.stored, self.freshness.age)

    create = create_dataset = create_array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and same_location(self.freshness, other)

    def __hash__(self) -> int:
        return hash((Group.__name__, self.freshness.stored.path))  # as of the equal Group

    def __reduce__(self) -> tuple[Any, ...]:
        state = pickled_state(self.freshness.stored)
        return reopen, (partial(FreshGroup, age=self.freshness.age), *state)
