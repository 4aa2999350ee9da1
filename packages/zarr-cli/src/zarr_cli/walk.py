"""Iteration over the members of a group, including damaged ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core import Array, Group
from zarr_core.errors import ExtensionError
from zarr_core.extension import GroupMetadata, ZarrError
from zarr_core.formats.detect import read_node
from zarr_core.threads import concurrent_map

from zarr_cli.validate.problem import problems_from_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a hierarchy, which may be damaged.

    ``path`` is relative to the start of the walk, empty for the start itself.  ``node`` is None if it
    cannot be opened, ``problem`` says why; ``metadata`` is None if it cannot be read.  ``last`` is
    whether it is the last member of its group.
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
        """The number of groups between the start of the walk and the node."""
        return self.path.count("/")


def walk(group: Group, levels: int | None = None) -> Iterator[Member]:
    """Iterate over the members of a group, parents first, sorted by name within each group.

    With ``levels=1`` only over direct members, with 2 also over those of direct subgroups.
    """
    # A stack, because hierarchies may be deeper than the recursion limit of Python.
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
    members = concurrent_map(
        list(group), lambda name: open_member(group, name), group.store.max_concurrency
    )
    present = [member for _, member in members if member is not None]
    for number, member in enumerate(present, 1):
        yield replace(member, path=prefix + member.path, last=number == len(present))


def open_member(group: Group, name: str) -> Member | None:
    """Open one member of a group; return None if it no longer exists."""
    try:
        node = group[name]
    except KeyError:
        return None
    except ExtensionError as error:
        return Member(name, None, _read_metadata(group, name), _problem(error))
    except ZarrError as error:
        return Member(name, None, None, _problem(error))
    return Member(name, node, node.metadata)


def _read_metadata(group: Group, name: str) -> ArrayMetadata | GroupMetadata | None:
    """Return the metadata of a node that cannot be opened; None if it cannot be read."""
    path = f"{group.path}/{name}".lstrip("/")
    try:
        return read_node(group.store, path)[1]
    except ZarrError:
        return None


def _problem(error: ZarrError) -> str:
    """Return an error as one line with its JSON pointer, without the path of the node."""
    first, *others = problems_from_error(error, "")
    more = f" (and {len(others)} more)" if others else ""
    # `zarr-core check` prints the advice too.
    message = first.message.partition(". ")[0].partition("; ")[0]
    return f"{first.pointer or 'metadata'}: {message}{more}"
