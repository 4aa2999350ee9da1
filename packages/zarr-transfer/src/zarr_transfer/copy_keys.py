"""Copy, remove and measure keys without interpreting them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.errors import NodeExistsError
from zarr_core.extension import Location, NodeNotFoundError
from zarr_core.formats.key_order import key_order
from zarr_core.hierarchy.delete import require_erasing
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.optional import reporter_for

from zarr_transfer.copy_executor import CopyResult, KeyPair
from zarr_transfer.copy_values import KeyCopier
from zarr_transfer.keys import present_keys
from zarr_transfer.plan import check_word, path_within
from zarr_transfer.progress import logging_to, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from zarr_core.extension import Store
    from zarr_core.formats.key_order import KeyOrder
    from zarr_core.hierarchy.store_path import StoreLike

    from zarr_transfer.progress import Progress


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
    dry_run: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    log: Any = None,
    source_storage_options: Mapping[str, Any] | None = None,
    dest_storage_options: Mapping[str, Any] | None = None,
) -> CopyResult:
    """Copy keys and values from one store to another without interpreting them.

    Parameters
    ----------
    source, dest : store-like
        The two stores.
    source_path, dest_path : str
        Keys below ``source_path`` are copied to keys below ``dest_path``.
    excludes, includes : str or sequence of str
        Regular expressions that are searched for in the keys of the source.  A key that matches
        ``excludes`` is not copied, unless it matches ``includes``.
    flags : int
        Flags of the regular expressions, such as ``re.IGNORECASE``.
    if_exists : {"raise", "replace", "skip", "update"}
        For existing keys: raise an error before anything is copied, replace them, keep them, or
        replace those that differ.  The last two resume an interrupted copy.
    dry_run : bool
        Copy nothing; only write to ``log`` what would be copied.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True shows a line on standard error.
    log : callable, path or file, optional
        Receives a line for each key.
    source_storage_options, dest_storage_options : mapping, optional
        Further arguments for the store if ``source`` or ``dest`` is a URL.

    Returns
    -------
    copied, skipped : int
        Numbers of keys.
    nbytes : int
        Bytes that were copied.

    Raises
    ------
    NodeNotFoundError
        If there is no key below the path.
    NodeExistsError
        If a key exists and ``if_exists`` is ``"raise"``, or a copy would replace a key that is
        copied itself.
    StoreCapabilityError
        If the source cannot list its keys.

    Notes
    -----
    Up to ``max_concurrency`` values are copied at the same time.  Metadata documents are copied
    last, members before their groups, so visible nodes are complete; they are copied first if the
    store requires it (``metadata_first`` of :class:`StoreTraits`).
    """
    check_word("if_exists", if_exists, ("raise", "replace", "skip", "update"))
    with (
        opened_store(
            source, source_path, read_only=True, storage_options=source_storage_options
        ) as (from_store, from_path),
        opened_store(dest, dest_path, storage_options=dest_storage_options) as (to_store, to_path),
    ):
        keys = sorted(from_store.list_prefix(_prefix(from_path)))
        if not keys:
            _check_location(source, from_store, from_path, "there is nothing to copy")
        targets = _targets(filter(_chosen(excludes, includes, flags), keys), from_path, to_path)
        _check_overlap(from_store, from_path, to_store, to_path, targets)
        existing = _existing_keys(to_store, to_path, set(targets.values()))
        if existing and if_exists == "raise":
            raise NodeExistsError(
                f"{to_store} {min(existing)!r}",
                'exists already; see if_exists="replace", "skip" and "update"',
            )
        kept = existing if if_exists == "skip" else set()
        maybe = existing if if_exists == "update" else set()
        todo = [
            KeyPair(key, target, target in maybe)
            for key, target in targets.items()
            if target not in kept
        ]
        with logging_to(log) as line:
            for key, target in targets.items():
                arrow = "" if target == key else f" -> {target}"
                line(f"{'skip' if target in kept else 'copy'} {key}{arrow}")
            done = CopyResult(len(todo), len(targets) - len(todo), 0)
            if not dry_run:
                transfer = copy_keys(
                    from_store, to_store, to_path, todo, _order(source, dest), progress,
                    'copy_store again with if_exists="update"',
                )  # fmt: skip
                done = CopyResult(transfer.copied, done.skipped + transfer.skipped, transfer.nbytes)
            line(summary(done, dry_run=dry_run))
    return done


def rmdir(
    store: StoreLike,
    path: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Remove all keys below a path, whether or not they belong to nodes.

    For nodes, prefer :func:`zarr_core.remove`: it includes chunks that the format stores elsewhere, and
    updates consolidated metadata.

    Parameters
    ----------
    store : store-like
        Location.
    path : str, optional
        The path; by default all keys of the location.
    storage_options : mapping, optional
        As for :func:`zarr_core.remove`.

    Raises
    ------
    NodeNotFoundError
        If no key is stored below a path or URL.  An empty store object is not an error.
    StoreReadOnlyError, StoreCapabilityError
        If the store is read-only, or cannot list or remove its keys.

    Notes
    -----
    Metadata is removed first, so that an interrupted call leaves no incomplete node.
    """
    with opened_store(store, path, storage_options=storage_options) as (opened, node_path):
        require_erasing(opened)
        keys = list(opened.list_prefix(_prefix(node_path)))
        if not keys:
            _check_location(store, opened, node_path, "there is nothing to remove")
        _order(store).erase_documents(opened, keys)
        opened.erase_prefix(_prefix(node_path))


def getsize(
    store: StoreLike, path: str | None = None, *, storage_options: Mapping[str, Any] | None = None
) -> int:
    """Bytes of all values below a path: chunks, metadata and all other keys.

    :meth:`zarr_core.Array.nbytes_stored` counts only the chunks of an array.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node and everything below it.
    path : str, optional
        Path of a node, or a key.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Raises
    ------
    NodeNotFoundError
        If no value is stored at or below a path or URL.  An empty store object is not an error.
    StoreCapabilityError
        If the store cannot list its keys.
    """
    with opened_store(store, path, read_only=True, storage_options=storage_options) as (opened, at):
        names, prefixes = [at] if at else [], [_prefix(at)]
        if isinstance(store, Node) and at and not path:
            format_ = store.stored.format
            names, prefixes = [*format_.documents(at)], [*format_.prefixes(at)]
        sizes = {key: size for prefix in prefixes for key, size in opened.list_sizes(prefix)}
        sizes |= {key: size for key in names if (size := opened.getsize(key)) is not None}
        if not sizes and not isinstance(store, Node):
            _check_location(store, opened, at, "nothing is stored here")
        return sum(sizes.values())


def copy_keys(
    source: Store,
    dest: Store,
    path: str,
    pairs: list[KeyPair],
    order: KeyOrder,
    progress: Callable[[Progress], object] | bool | None,
    remedy: str,
    largest: int = 0,
) -> KeyCopier:
    """Copy values; metadata documents last, or first if the store requires it.

    ``largest`` is the maximum size of a value in bytes; 0 if unknown.
    """
    of_keys = {pair.source: pair for pair in pairs}
    values, documents = order.to_write(of_keys)
    steps = [*documents[::-1], values] if dest.traits.metadata_first else [values, *documents]
    with reporter_for(progress, 1) as reporter:
        reporter.begin(path, len(pairs), "keys")
        transfer = KeyCopier(source, dest, reporter, {-1: largest})
        try:
            for step in steps:
                transfer.run(of_keys[key] for key in step)
        except BaseException as error:
            done = transfer.copied + transfer.skipped
            warning = ", and arrays may lack chunks" if dest.traits.metadata_first else ""
            error.add_note(
                f"{Location(dest, path)}: {done:,} of {len(pairs):,} keys are copied{warning}; {remedy} "
                "to continue"
            )
            raise
        reporter.end()
    return transfer


def _order(*stores: StoreLike) -> KeyOrder:
    """Return the order of keys for all installed formats and that of a node."""
    return key_order(next((node.stored.format for node in stores if isinstance(node, Node)), None))


def _prefix(path: str) -> str:
    return f"{path}/" if path else ""


def _targets(keys: Iterable[str], old: str, new: str) -> dict[str, str]:
    """Return the new keys of keys below a path."""
    skip, prefix = len(_prefix(old)), _prefix(new)
    return {key: prefix + key[skip:] for key in keys}


def _check_overlap(
    source: Store, path: str, dest: Store, dest_path: str, targets: dict[str, str]
) -> None:
    """Raise an error if the copy of one key would replace another that is copied."""
    between = path_within(dest, dest_path, source, path)
    if between is None:
        between = path_within(source, path, dest, dest_path)
    if not between:  # neither is within the other, or they are the same
        return
    keys = {key[len(_prefix(path)) :] for key in targets}
    if hit := sorted(keys.intersection(f"{between}/{key}" for key in keys)):
        raise NodeExistsError(
            Location(dest, dest_path),
            f"the copies would replace keys that are copied themselves, such as {hit[0]!r}; "
            "exclude those with excludes=, or copy to another path",
        )


def _existing_keys(store: Store, path: str, keys: set[str]) -> set[str]:
    """Return the keys that exist below a path."""
    if store.supports_listing:
        return keys.intersection(store.list_prefix(_prefix(path)))
    return present_keys(store, keys)


def _chosen(
    excludes: str | Sequence[str], includes: str | Sequence[str], flags: int
) -> Callable[[str], bool]:
    """Return a function that tells whether a key is copied."""
    excluded, included = (
        [
            re.compile(text, flags)
            for text in ([expressions] if isinstance(expressions, str) else expressions or ())
        ]
        for expressions in (excludes, includes)
    )

    def matches(patterns: list[re.Pattern[str]], key: str) -> bool:
        return any(pattern.search(key) for pattern in patterns)

    return lambda key: not matches(excluded, key) or matches(included, key)


def _check_location(location: StoreLike, store: Store, path: str, missing: str) -> None:
    """Raise a NodeNotFoundError for an empty location: its path may be wrong.

    A store object without a path may be empty.
    """
    if path or isinstance(location, str | os.PathLike):
        raise NodeNotFoundError(Location(store, path), f"{missing}; check the path")
