"""Copying or renaming keys, whatever they mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.copying.asked import check_word
from zarr_core.copying.log import logging_to, summary
from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.hierarchy.briefly import briefly, refuse_misspelt
from zarr_core.hierarchy.node import Node
from zarr_core.interfaces.carrier import Pair
from zarr_core.interfaces.progress import reporting
from zarr_core.names import join, located
from zarr_core.nodes.erasing import erase_documents, require_erasing
from zarr_core.nodes.key_order import to_write
from zarr_core.stores.nesting import path_within
from zarr_core.transfer.ends import lies_in
from zarr_core.transfer.plan import Copied
from zarr_core.transfer.there import existing
from zarr_core.transfer.values import Transfer, all_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.progress import Progress
    from zarr_core.interfaces.store import Store
    from zarr_core.transfer.values import Compare


def copy_store(
    source: StoreLike,
    dest: StoreLike,
    source_path: str = "",
    dest_path: str = "",
    *,
    excludes: str | Sequence[str] = (),
    includes: str | Sequence[str] = (),
    flags: int = 0,
    if_exists: Literal["raise", "replace", "skip", "update"] = "raise",
    compare: Compare = "content",
    dry_run: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    log: Any = None,
) -> Copied:
    """Copy keys and values from one store to another, whatever they mean.

    Parameters
    ----------
    source, dest : store-like
        From where and where to.
    source_path, dest_path : str
        Only keys below the one path, to below the other.
    excludes, includes : str or sequence of str
        Regular expressions that are searched for in the keys of the source.  A key with
        one of the first is left out, unless it has one of the second.
    flags : int
        How they are understood, such as ``re.IGNORECASE``.
    if_exists : {"raise", "replace", "skip", "update"}
        What to do about keys that are there: refuse to copy anything, copy them all,
        leave them as they are, or copy those that differ.  The last two continue a copy
        that was interrupted.
    compare : {"content", "size"}
        When a value does not differ: if it has the same bytes, or if it has as many,
        which is faster and not certain.
    dry_run : bool
        Only find out, and write to ``log``, what would be done.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a line on
        standard error.
    log : callable, path or file, optional
        Takes a line for each key.

    Returns
    -------
    copied, skipped : int
        Numbers of keys.
    nbytes : int
        Bytes that were copied.

    Raises
    ------
    NodeNotFoundError
        If there is no key below the path, or at a place that is given by its name.
    NodeExistsError
        If a key is there already, unless ``if_exists`` says otherwise; if one that is
        copied would be replaced by the copy of another.
    StoreCapabilityError
        If the source cannot list its keys.

    Notes
    -----
    As many values are on their way at once as the stores want requests in flight.
    Documents are copied last, those of members before those of their groups, so what
    can be seen is complete.
    """
    check_word("if_exists", if_exists, ("raise", "replace", "skip", "update"))
    check_word("compare", compare, ("content", "size"))
    with (
        briefly(source, source_path, read_only=True) as (from_store, from_path),
        briefly(dest, dest_path) as (to_store, to_path),
    ):
        keys = sorted(from_store.list_prefix(_prefix(from_path)))
        if not keys:
            refuse_misspelt(source, from_store, from_path, "there is nothing to copy")
        targets = _targets(filter(_chosen(excludes, includes, flags), keys), from_path, to_path)
        _refuse_overlap(from_store, from_path, to_store, to_path, targets)
        there = _there(to_store, to_path, set(targets.values()))
        if there and if_exists == "raise":
            raise NodeExistsError(
                f"{to_store} {min(there)!r}",
                'is there already; see if_exists="replace", "skip" and "update"',
            )
        kept = there if if_exists == "skip" else set()
        maybe = there if if_exists == "update" else set()
        todo = [
            Pair(key, target, target in maybe)
            for key, target in targets.items()
            if target not in kept
        ]
        with logging_to(log) as line:
            for key, target in targets.items():
                arrow = "" if target == key else f" -> {target}"
                line(f"{'skip' if target in kept else 'copy'} {key}{arrow}")
            done = Copied(len(todo), len(targets) - len(todo), 0)
            if not dry_run:
                transfer = _copy(from_store, to_store, to_path, todo, compare, progress)
                skipped = done.skipped + transfer.skipped
                done = Copied(transfer.copied, skipped, transfer.nbytes)
            line(summary(done, dry_run=dry_run))
    return done


def rename(
    store: StoreLike,
    source_path: str,
    dest_path: str,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
) -> None:
    """Give all keys below a path of a store another path, whatever they mean.

    Parameters
    ----------
    store : store-like
        Where.
    source_path, dest_path : str
        Where the keys lie, where they go.
    progress : callable or True, optional
        As for :func:`copy_store`.

    Raises
    ------
    NodeNotFoundError
        If there is no key below the first path.
    NodeExistsError
        If one path lies in the other, or there is a key with another value below the
        second.
    StoreCapabilityError
        If the store cannot list or remove its keys.

    Notes
    -----
    Everything is copied before anything is removed, documents last and first.  So every
    node is whole at one of the two places, and what was interrupted is completed by the
    same call.  A node is better moved by :meth:`Group.move`, which knows where its
    format keeps chunks, and makes the groups that lead to it.
    """
    with briefly(store, source_path) as (place, old):
        above = store.path if isinstance(store, Node) else ""
        new = join(above, dest_path)
        where = located(place, new)
        require_erasing(place)
        if lies_in(new, old) or lies_in(old, new):
            raise NodeExistsError(where, f"{'/' + old!r} and its new place would overlap")
        keys = list(place.list_prefix(_prefix(old)))
        if not keys:
            raise NodeNotFoundError(located(place, old), "there is nothing to rename")
        targets = _targets(keys, old, new)
        there = _there(place, new, set(targets.values()))
        pairs = [Pair(*pair) for pair in targets.items()]
        if not all_same(place, place, (pair for pair in pairs if pair.target in there)):
            raise NodeExistsError(where, "there is something else already; remove it first")
        todo = [pair for pair in pairs if pair.target not in there]
        _copy(place, place, new, todo, "content", progress)
        erase_documents(place, keys)
        place.erase_values(keys)


def _copy(
    source: Store,
    dest: Store,
    path: str,
    pairs: list[Pair],
    compare: Compare,
    progress: Callable[[Progress], object] | bool | None,
) -> Transfer:
    """Copy values, documents after all others."""
    of_keys = {pair.source: pair for pair in pairs}
    values, documents = to_write(of_keys)
    with reporting(progress, path, len(pairs), "keys") as reporter:
        transfer = Transfer(source, dest, compare, reporter)
        for step in (values, *documents):
            transfer.run(of_keys[key] for key in step)
    return transfer


def _prefix(path: str) -> str:
    return f"{path}/" if path else ""


def _targets(keys: Iterable[str], old: str, new: str) -> dict[str, str]:
    """What keys below a path become below another."""
    skip, prefix = len(_prefix(old)), _prefix(new)
    return {key: prefix + key[skip:] for key in keys}


def _refuse_overlap(
    source: Store, path: str, dest: Store, dest_path: str, targets: dict[str, str]
) -> None:
    """Raise if the copy of one key would replace another that is copied, read by then or not."""
    between = path_within(dest, dest_path, source, path)
    if between is None:
        between = path_within(source, path, dest, dest_path)
    if not between:  # neither lies in the other, or they are the same
        return
    keys = {key[len(_prefix(path)) :] for key in targets}
    if hit := sorted(keys.intersection(f"{between}/{key}" for key in keys)):
        raise NodeExistsError(
            located(dest, dest_path),
            f"the copies would replace keys that are copied themselves, such as {hit[0]!r}; "
            "leave those out by excludes=, or copy to another place",
        )


def _there(store: Store, path: str, keys: set[str]) -> set[str]:
    """Those of some keys, all below a path, that a store has."""
    if store.supports_listing:
        return keys.intersection(store.list_prefix(_prefix(path)))
    return existing(store, keys)


def _chosen(
    excludes: str | Sequence[str], includes: str | Sequence[str], flags: int
) -> Callable[[str], bool]:
    """What says whether a key is copied."""
    left_out, kept = (
        [re.compile(text, flags) for text in ([given] if isinstance(given, str) else given or ())]
        for given in (excludes, includes)
    )

    def wanted(key: str) -> bool:
        return not any(it.search(key) for it in left_out) or any(it.search(key) for it in kept)

    return wanted
