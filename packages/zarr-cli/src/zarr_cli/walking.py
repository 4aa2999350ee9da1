"""Going through the members of a group, damaged ones included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core import Array, Group
from zarr_core.extension import (
    ExtensionError,
    GroupMetadata,
    ZarrError,
    in_flight,
    read_node,
)

from zarr_cli.validating.finding import findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata


@dataclass(frozen=True, slots=True)
class Member:
    """A node, as far as it can be understood.

    Parameters
    ----------
    path : str
        Relative to where the walk began; empty for that node itself.
    node : Array, Group or None
        None if it cannot be opened.
    metadata : ArrayMetadata, GroupMetadata or None
        Its document; None if that cannot be read, either.
    problem : str
        Why it cannot be opened; empty if it can.
    last : bool
        Whether it is the last member of its group.
    """

    path: str
    node: Array | Group | None
    metadata: ArrayMetadata | GroupMetadata | None
    problem: str = ""
    last: bool = True

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def is_group(self) -> bool:
        """Whether it is a group."""
        return isinstance(self.metadata, GroupMetadata)

    @property
    def depth(self) -> int:
        """How many groups lie between it and the one where the walk began."""
        return self.path.count("/")


def walk(group: Group, levels: int | None = None) -> Iterator[Member]:
    """The members of a group, parents before children, sorted by name within each group.

    Parameters
    ----------
    group : Group
        Where to begin; it is not among them.
    levels : int, optional
        1 for the direct members, 2 for those of direct subgroups as well; all if not given.
    """
    # A stack, as hierarchies may be deeper than Python's recursion.
    stack = [] if levels == 0 else [_members(group, "")]
    while stack:
        for member in stack[-1]:
            yield member
            if isinstance(member.node, Group) and (levels is None or len(stack) < levels):
                stack.append(_members(member.node, f"{member.path}/"))
                break
        else:
            stack.pop()


def _members(group: Group, prefix: str) -> Iterator[Member]:
    found = in_flight(list(group), lambda name: open_member(group, name), group.store.requests)
    present = [member for _, member in found if member is not None]
    for number, member in enumerate(present, 1):
        yield replace(member, path=prefix + member.path, last=number == len(present))


def open_member(group: Group, name: str) -> Member | None:
    """One member of a group; None if it has gone meanwhile."""
    try:
        node = group[name]
    except KeyError:
        return None
    except ExtensionError as error:
        return Member(name, None, _document(group, name), _problem(error))
    except ZarrError as error:
        return Member(name, None, None, _problem(error))
    return Member(name, node, node.metadata)


def _document(group: Group, name: str) -> ArrayMetadata | GroupMetadata | None:
    """What a node says of itself that nobody here can open."""
    path = f"{group.path}/{name}".lstrip("/")
    try:
        return read_node(group.store, path)[1]
    except ZarrError:
        return None


def _problem(error: ZarrError) -> str:
    """An error in one line, located within the document; where the node is, one knows."""
    first, *others = findings_of(error, "")
    more = f" (and {len(others)} more)" if others else ""
    # What to do about it is told by `validate`.
    message = first.message.partition(". ")[0].partition("; ")[0]
    return f"{first.pointer or 'the document'}: {message}{more}"
