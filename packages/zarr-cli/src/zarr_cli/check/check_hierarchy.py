"""Check of all chunks and keys below a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core import Array, Group
from zarr_core.tools import ProgressReporter

from zarr_cli.check.array_check import ArrayCheck
from zarr_cli.check.check_chunks import check_chunks, require_chunks
from zarr_cli.check.unmanaged_keys import check_keys_of_array, unmanaged_keys
from zarr_cli.metadata_documents import format_of
from zarr_cli.walk import Member, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import PartialArrayMetadata, Progress, Store


@dataclass(slots=True)
class Check:
    """The result of checking a hierarchy.

    Parameters
    ----------
    store, path : str
        The location of the hierarchy.
    arrays : list of ArrayCheck
        The results of its arrays.
    unopened : dict
        The reason for each path of a node that cannot be opened.
    foreign : list of str
        Unmanaged keys in groups; prefixes end with a slash.
    """

    store: str
    path: str
    arrays: list[ArrayCheck] = field(default_factory=list)
    unopened: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether all nodes can be opened and all chunks be read, and metadata is as expected."""
        return not self.unopened and not any(
            array.damages or array.differences for array in self.arrays
        )

    @property
    def is_complete(self) -> bool:
        """Whether no chunk is missing, and there are no unmanaged keys or outside chunks."""
        return not self.foreign and not any(
            array.missing or array.foreign or array.outside for array in self.arrays
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
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
    like: PartialArrayMetadata | None = None,
) -> Check:
    """Read every chunk of an array, or of all arrays below a group.

    Parameters
    ----------
    store : Store
        The store of the hierarchy.
    path : str
        The path of the node to start at.
    zarr_format : int or str, optional
        Check only this format.
    progress : callable, optional
        As for :func:`zarr_core.copy`.
    like : PartialArrayMetadata, optional
        What the metadata of each array is compared with.

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
            found = _new_result(array)
            result.arrays.append(found)
            if like is not None:
                found.differences += map(str, like.problems(array.metadata))
            keys = check_chunks(array if lists else require_chunks(array), found, reporter)
            if lists:
                check_keys_of_array(array, format_, keys, found)
    for member in members:
        if member.problem:
            result.unopened[_absolute(path, member)] = member.problem
    if lists:
        nodes = {_absolute(path, member).lstrip("/") for member in members}
        groups = [_absolute(path, it).lstrip("/") for it in members if it.is_group]
        result.foreign = unmanaged_keys(store, format_, groups, nodes)
    return result


def _absolute(path: str, member: Member) -> str:
    return "/" + "/".join(part for part in (path, member.path) if part)


def _new_result(array: Array) -> ArrayCheck:
    return ArrayCheck(
        array.name,
        "chunk" if array.shards is None else "shard",
        prod(array.cdata_shape),
        any(getattr(codec, "detects_damage", False) for codec in array.chunk_codecs),
    )
