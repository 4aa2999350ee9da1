"""What becomes of each node where nodes are copied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.metadata.array import ArrayMetadata
from zarr_core.transfer.ends import lies_in

if TYPE_CHECKING:
    from typing import Literal

    from zarr_core.interfaces.carrier import Pair
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.transfer.ends import Ends

    Action = Literal["copy", "replace", "merge", "keep", "skip"]


class Copied(NamedTuple):
    """What a copy has done."""

    copied: int
    """How many nodes, or keys, were copied."""
    skipped: int
    """How many were not, as they were there already."""
    nbytes: int
    """Bytes that were stored, of all but the documents of nodes."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one node.

    Parameters
    ----------
    source, target : str
        Paths of the node, of its copy.
    metadata : ArrayMetadata or GroupMetadata
        What the copy says of itself.
    action : {"copy", "replace", "merge", "keep", "skip"}
        ``replace``: what is there is removed first; ``merge``: a group that is there gets
        the members and the document; ``keep``: it gets the members; ``skip``: what is
        there stays.
    """

    source: str
    target: str
    metadata: NodeMetadata
    action: Action

    @property
    def is_array(self) -> bool:
        """Whether the node is an array."""
        return isinstance(self.metadata, ArrayMetadata)

    @property
    def stays(self) -> bool:
        """Whether what is there stays as it is."""
        return self.action in ("keep", "skip")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a copy does.

    Parameters
    ----------
    ends : Ends
        From where, where to.
    steps : list of Step
        One a node, parents first.
    pairs : list of Pair
        Keys of all but documents; their owners are numbers of steps.
    """

    ends: Ends
    steps: list[Step]
    pairs: list[Pair] = field(repr=False)

    def counted(self, nbytes: int = 0) -> Copied:
        """How many nodes are copied, or are not."""
        skipped = sum(step.stays for step in self.steps)
        return Copied(len(self.steps) - skipped, skipped, nbytes)


def tops_of(nodes: list[tuple[str, NodeMetadata]]) -> list[str]:
    """Paths of the nodes that lie in no other, of a list with parents first."""
    tops: list[str] = []
    for path, _ in nodes:
        if not tops or not lies_in(path, tops[-1]):
            tops.append(path)
    return tops
