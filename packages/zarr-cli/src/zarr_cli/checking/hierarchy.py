"""All chunks below a node, read one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core import Array, Group
from zarr_core.extension import ProgressReporter

from zarr_cli.checking.chunks import check_chunks, without_fill
from zarr_cli.checking.keys import check_keys_of_array, foreign_keys
from zarr_cli.checking.result import ArrayCheck
from zarr_cli.documents import format_of
from zarr_cli.walking import Member, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Progress, Store


@dataclass(slots=True)
class Check:
    """What was found out about a hierarchy.

    Parameters
    ----------
    store, path : str
        Where it is.
    arrays : list of ArrayCheck
        Its arrays.
    unopened : dict
        Path -> why, of the nodes that cannot be opened.
    foreign : list of str
        Keys in groups that belong to no node; prefixes, ending in a slash, of several.
    """

    store: str
    path: str
    arrays: list[ArrayCheck] = field(default_factory=list)
    unopened: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether every node can be opened, every stored chunk be read."""
        return not self.unopened and not any(array.damages for array in self.arrays)

    @property
    def is_complete(self) -> bool:
        """Whether also no chunk is missing, and no key is foreign or left over."""
        return not self.foreign and not any(
            array.missing or array.foreign or array.outside for array in self.arrays
        )

    def to_json(self) -> dict[str, Any]:
        """The result as a document."""
        return {
            "store": self.store,
            "path": self.path,
            "sound": self.is_sound,
            "complete": self.is_complete,
            "damaged": sum(len(array.damages) for array in self.arrays),
            "missing": sum(array.missing for array in self.arrays),
            "arrays": [array.to_json() for array in self.arrays],
            "unopened": [
                {"path": path, "problem": problem} for path, problem in self.unopened.items()
            ],
            "foreign": self.foreign,
        }


def check(
    store: Store,
    path: str = "",
    zarr_format: int | str | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Check:
    """Read every chunk of an array, or of all arrays below a group.

    Parameters
    ----------
    store : Store
        Where they are.
    path : str
        Of the node where to begin.
    zarr_format : int or str, optional
        Look at this format only.
    progress : callable, optional
        As for :func:`zarr_core.copy`.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    """
    lists = store.supports_listing
    node = zarr_core.open(
        store, "r", path=path, zarr_format=zarr_format, use_consolidated=False if lists else None
    )
    members = [Member("", node, node.metadata)]
    if isinstance(node, Group):
        members += walk(node)
    result = Check(str(store), f"/{path}")
    arrays = [member.node for member in members if isinstance(member.node, Array)]
    format_ = format_of(store, path, zarr_format)
    with ProgressReporter(progress, len(arrays)) as reporter:
        for array in arrays:
            found = _begun(array)
            result.arrays.append(found)
            keys = check_chunks(array if lists else without_fill(array), found, reporter)
            if lists:
                check_keys_of_array(array, format_, keys, found)
    for member in members:
        if member.problem:
            result.unopened[_absolute(path, member)] = member.problem
    if lists:
        nodes = {_absolute(path, member).lstrip("/") for member in members}
        groups = [_absolute(path, it).lstrip("/") for it in members if it.is_group]
        result.foreign = foreign_keys(store, format_, groups, nodes)
    return result


def _absolute(path: str, member: Member) -> str:
    return "/" + "/".join(part for part in (path, member.path) if part)


def _begun(array: Array) -> ArrayCheck:
    return ArrayCheck(
        array.name,
        "chunk" if array.shards is None else "shard",
        prod(array.cdata_shape),
        any(codec.detects_damage for codec in array.compressors),
    )
