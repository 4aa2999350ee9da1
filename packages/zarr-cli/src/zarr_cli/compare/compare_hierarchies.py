"""Comparison of two nodes, with all nodes below them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.optional import reporter_for
from zarr_core.threads import concurrent_map

from zarr_cli.compare.compare_metadata import compare_metadata
from zarr_cli.compare.compare_values import Tolerance, compare_values
from zarr_cli.compare.difference import Difference
from zarr_cli.walk import Member, open_member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_transfer import Progress


@dataclass(slots=True)
class Comparison:
    """The result of comparing two hierarchies.

    Parameters
    ----------
    nodes : int
        The number of nodes that were compared.
    differences : list of Difference
        The differences, sorted by path.
    values_equal : bool or None
        Whether all elements are equal; None if they were not compared.
    """

    nodes: int = 0
    differences: list[Difference] = field(default_factory=list)
    values_equal: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
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
    """Compare two nodes of any formats and stores, with all nodes below them.

    Parameters
    ----------
    a, b : Array or Group
        The nodes.
    values : bool
        Whether to compare elements.
    storage : bool
        Whether to compare how elements are stored: chunks, codecs, chunk keys.
    tolerance : Tolerance, optional
        Tolerance for numbers; exact comparison if not given.
    progress : callable, optional
        As for :func:`zarr_core.copy`.
    """
    result = Comparison()
    arrays: list[tuple[str, Array, Array]] = []
    for path, one, other in _pairs(a, b):
        result.nodes += 1
        if one is None or other is None or one.node is None or other.node is None:
            result.differences.append(_node_difference(path, one, other))
            continue
        mine, its = one.node, other.node
        if isinstance(mine, Array) and isinstance(its, Array):
            result.differences += compare_metadata(mine, its, path, storage=storage)
            if mine.shape == its.shape:
                arrays.append((path, mine, its))
        elif isinstance(mine, Group) and isinstance(its, Group):
            result.differences += compare_metadata(mine, its, path, storage=storage)
        else:
            result.differences.append(_type_difference(path, mine))
    with reporter_for(progress, len(arrays)) as reporter:
        for path, mine, its in arrays if values else ():
            different = compare_values(mine, its, path, tolerance or Tolerance(), reporter)
            result.differences += [] if different is None else [different]
    if values:
        result.values_equal = not any(
            row.what != "metadata" or row.where.startswith("/shape") for row in result.differences
        )
    result.differences.sort(key=lambda difference: difference.path)
    return result


def _pairs(
    a: Array | Group, b: Array | Group
) -> Iterator[tuple[str, Member | None, Member | None]]:
    """Yield the paths of all nodes, with the member on each side."""
    level: list[tuple[str, Member | None, Member | None]]
    level = [("", Member("", a, a.metadata), Member("", b, b.metadata))]
    while level:
        next_level: list[tuple[str, Member | None, Member | None]] = []
        for path, one, other in level:
            yield path or "/", one, other
            if one is None or other is None:
                continue
            if isinstance(one.node, Group) and isinstance(other.node, Group):
                mine, its = _members(one.node), _members(other.node)
                next_level += [
                    (f"{path}/{name}", mine.get(name), its.get(name))
                    for name in sorted({*mine, *its})
                ]
        level = next_level


def _members(group: Group) -> dict[str, Member | None]:
    nodes = concurrent_map(
        list(group), lambda name: open_member(group, name), group.store.max_concurrency
    )
    return dict(nodes)


def _node_difference(path: str, one: Member | None, other: Member | None) -> Difference:
    if one is None or other is None:
        present = one or other
        side = "B" if one is None else "A"
        kind = "group" if present is not None and present.is_group else "array"
        texts = [kind if node is not None else "" for node in (one, other)]
        return Difference(path, "node", "", texts[0], texts[1], f"{kind} only in {side}")
    reasons = [
        f"cannot be opened in {side}: {member.problem}"
        for side, member in (("A", one), ("B", other))
        if member.node is None
    ]
    return Difference(path, "node", "", one.problem, other.problem, "; ".join(reasons))


def _type_difference(path: str, mine: Array | Group) -> Difference:
    kinds = ("array", "group") if isinstance(mine, Array) else ("group", "array")
    return Difference(path, "node", "", *kinds, f"{kinds[0]} in A, {kinds[1]} in B")
