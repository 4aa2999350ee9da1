"""Two nodes compared, with all that is below them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.extension import ProgressReporter, in_flight

from zarr_cli.comparing.metadata import compare_metadata
from zarr_cli.comparing.result import Difference
from zarr_cli.comparing.values import Tolerance, compare_values
from zarr_cli.walking import Member, open_member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core import Progress


@dataclass(slots=True)
class Comparison:
    """What two hierarchies have in common, or not.

    Parameters
    ----------
    nodes : int
        How many nodes were compared.
    differences : list of Difference
        Where they differ.
    """

    nodes: int = 0
    differences: list[Difference] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The result as a document."""
        return {
            "equal": not self.differences,
            "nodes": self.nodes,
            "differences": [difference.to_json() for difference in self.differences],
        }


def compare(
    a: Array | Group,
    b: Array | Group,
    *,
    values: bool = True,
    storage: bool = True,
    tolerance: Tolerance | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Comparison:
    """Compare two nodes, of whatever formats and stores, with all that is below them.

    Parameters
    ----------
    a, b : Array or Group
        The nodes.
    values : bool
        Whether elements are compared.
    storage : bool
        Whether it is a difference that elements are stored in another way: chunks, codecs.
    tolerance : Tolerance, optional
        How much numbers may differ; not at all if not given.
    progress : callable, optional
        As for :func:`zarr_core.copy`.
    """
    result = Comparison()
    arrays: list[tuple[str, Array, Array]] = []
    for path, one, other in _pairs(a, b):
        result.nodes += 1
        if one is None or other is None or one.node is None or other.node is None:
            result.differences.append(_one_sided(path, one, other))
            continue
        mine, its = one.node, other.node
        if isinstance(mine, Array) and isinstance(its, Array):
            result.differences += compare_metadata(mine, its, path, storage=storage)
            if mine.shape == its.shape:
                arrays.append((path, mine, its))
        elif isinstance(mine, Group) and isinstance(its, Group):
            result.differences += compare_metadata(mine, its, path, storage=storage)
        else:
            result.differences.append(_other_type(path, mine))
    with ProgressReporter(progress, len(arrays)) as reporter:
        for path, mine, its in arrays if values else ():
            found = compare_values(mine, its, path, tolerance or Tolerance(), reporter)
            result.differences += [] if found is None else [found]
    result.differences.sort(key=lambda difference: difference.path)
    return result


def _pairs(
    a: Array | Group, b: Array | Group
) -> Iterator[tuple[str, Member | None, Member | None]]:
    """Paths of all nodes, with what is there on either side."""
    level: list[tuple[str, Member | None, Member | None]]
    level = [("", Member("", a, a.metadata), Member("", b, b.metadata))]
    while level:
        below: list[tuple[str, Member | None, Member | None]] = []
        for path, one, other in level:
            yield path or "/", one, other
            if one is None or other is None:
                continue
            if isinstance(one.node, Group) and isinstance(other.node, Group):
                mine, its = _members(one.node), _members(other.node)
                below += [
                    (f"{path}/{name}", mine.get(name), its.get(name))
                    for name in sorted({*mine, *its})
                ]
        level = below


def _members(group: Group) -> dict[str, Member | None]:
    found = in_flight(list(group), lambda name: open_member(group, name), group.store.requests)
    return dict(found)


def _one_sided(path: str, one: Member | None, other: Member | None) -> Difference:
    if one is None or other is None:
        there = one or other
        side = "B" if one is None else "A"
        kind = "group" if there is not None and there.is_group else "array"
        texts = [kind if it is not None else "" for it in (one, other)]
        return Difference(path, "node", "", texts[0], texts[1], f"{kind} only in {side}")
    reasons = [
        f"cannot be opened in {side}: {it.problem}"
        for side, it in (("A", one), ("B", other))
        if it.node is None
    ]
    return Difference(path, "node", "", one.problem, other.problem, "; ".join(reasons))


def _other_type(path: str, mine: Array | Group) -> Difference:
    kinds = ("array", "group") if isinstance(mine, Array) else ("group", "array")
    return Difference(path, "node", "", *kinds, f"{kinds[0]} in A, {kinds[1]} in B")
