"""Check of all metadata, chunks and keys below a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core import Array, Group
from zarr_core.extension import ZarrError
from zarr_core.optional import reporter_for

from zarr_cli.check.array_check import ArrayCheck
from zarr_cli.check.check_chunks import check_chunks, require_chunks
from zarr_cli.check.unmanaged_keys import check_keys_of_array, unmanaged_keys
from zarr_cli.metadata_documents import format_of
from zarr_cli.validate import NodeProblem, Validation, validate
from zarr_cli.walk import Member, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Store


@dataclass(slots=True)
class Check:
    """The result of checking a hierarchy.

    Parameters
    ----------
    metadata : Validation
        The problems of the metadata of its nodes.
    arrays : list of ArrayCheck
        The results of its arrays; empty if only metadata was checked.
    unmanaged : list of str
        Unmanaged keys in groups; prefixes end with a slash.
    """

    metadata: Validation
    arrays: list[ArrayCheck] = field(default_factory=list)
    unmanaged: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether all metadata is valid, and all chunks can be read."""
        return not self.metadata.errors and not any(array.damages for array in self.arrays)

    @property
    def is_complete(self) -> bool:
        """Whether warnings, missing chunks, chunks outside and unmanaged keys are absent."""
        return (
            not self.metadata.warnings
            and not self.unmanaged
            and not any(array.missing or array.unmanaged or array.outside for array in self.arrays)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            **self.metadata.to_json(),
            "sound": self.is_sound,
            "complete": self.is_complete,
            "damaged": sum(len(array.damages) for array in self.arrays),
            "missing": sum(array.missing for array in self.arrays),
            "arrays": [array.to_json() for array in self.arrays],
            "unmanaged": self.unmanaged,
        }


def check(
    store: Store,
    path: str = "",
    zarr_format: int | str | None = None,
    progress: Callable[[Any], object] | None = None,
    *,
    chunks: bool = True,
) -> Check:
    """Validate all metadata and read every chunk of an array, or of all nodes below a group.

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
    chunks : bool
        Whether to read chunks; if not, only metadata is checked.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    """
    result = Check(validate(store, path, zarr_format))
    lists = store.supports_listing
    try:
        node = zarr_core.open(
            store,
            "r",
            path=path,
            zarr_format=zarr_format,
            use_consolidated=False if lists else None,
        )
    except ZarrError:
        if result.metadata.errors:
            return result  # the problems include this error
        raise
    members = [Member("", node, node.metadata)]
    if isinstance(node, Group):
        members += walk(node)
    reported = {problem.path for problem in result.metadata.problems if problem.is_error}
    for member in members:
        if member.problem and (at := _absolute(path, member)) not in reported:
            result.metadata.problems.append(NodeProblem(at, "", member.problem))
    arrays = [member.node for member in members if isinstance(member.node, Array)]
    if not chunks:
        return result
    format_ = format_of(store, path, zarr_format)
    with reporter_for(progress, len(arrays)) as reporter:
        for array in arrays:
            checked = _new_result(array)
            result.arrays.append(checked)
            keys = check_chunks(array if lists else require_chunks(array), checked, reporter)
            if lists:
                check_keys_of_array(array, format_, keys, checked)
    if lists:
        nodes = {_absolute(path, member).lstrip("/") for member in members}
        groups = [_absolute(path, member).lstrip("/") for member in members if member.is_group]
        result.unmanaged = unmanaged_keys(store, format_, groups, nodes)
    return result


def _absolute(path: str, member: Member) -> str:
    return "/" + "/".join(part for part in (path, member.path) if part)


def _new_result(array: Array) -> ArrayCheck:
    return ArrayCheck(
        array.name,
        "chunk" if array.shards is None else "shard",
        prod(array.cdata_shape),
        any(codec.detects_damage for codec in array.stored.inner_codecs.bytes_to_bytes),
    )
