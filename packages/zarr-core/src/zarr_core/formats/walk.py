"""Iterate over the nodes below a group."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from zarr_core.metadata.group import GroupMetadata
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

    # Names and metadata, or None for metadata that cannot be read.
    Children = Callable[[str], Iterator[tuple[str, Any]]]


def walk(
    format_: Format,
    store: Store,
    path: str,
    max_depth: int | None = 0,
    children: Children | None = None,
) -> Iterator[tuple[str, NodeMetadata]]:
    """Paths and metadata of the nodes below a group, parents before children.

    ``max_depth`` is 0 for direct children only, None for no limit; ValueError if negative.
    ``children`` returns the children of a path; by default, it reads the store.
    """
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be at least 0, or None for no limit, not {max_depth}")
    limit = inf if max_depth is None else max_depth
    return _walk(store, path, limit, children or partial(format_.children, store))


def _walk(
    store: Store, path: str, limit: float, children: Children
) -> Iterator[tuple[str, NodeMetadata]]:
    if store.max_concurrency is not None and limit:
        children = _read_ahead(path, limit, children, store.max_concurrency)
    # A stack of iterators: hierarchies may be deeper than the recursion limit.
    stack = [(path, children(path))]
    while stack:
        parent, nodes = stack[-1]
        for name, metadata in nodes:
            child = f"{parent}/{name}" if parent else name
            yield child, metadata
            if isinstance(metadata, GroupMetadata) and len(stack) <= limit:
                stack.append((child, children(child)))
                break
        else:
            stack.pop()


def _read_ahead(path: str, limit: float, children: Children, max_concurrency: int) -> Children:
    """Read level by level, ``max_concurrency`` groups at once."""
    known: dict[str, list[tuple[str, NodeMetadata]]] = {}
    level, depth = [path], 0
    while level and depth <= limit:
        known.update(concurrent_map(level, lambda at: list(children(at)), max_concurrency))
        level = [
            f"{parent}/{name}" if parent else name
            for parent in level
            for name, metadata in known[parent]
            if isinstance(metadata, GroupMetadata)
        ]
        depth += 1
    return lambda at: iter(known[at])
