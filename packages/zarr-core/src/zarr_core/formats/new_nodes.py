"""Checks of the locations of new nodes: reserved names, nodes of other formats."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import NodeExistsError, NodeNameError
from zarr_core.formats.detect import conflicting_format
from zarr_core.interfaces.wrapper_store import WrapperStore
from zarr_core.location import Location
from zarr_core.threads import parallel_for
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store

_permitted: ContextVar[tuple[str, ...]] = ContextVar("permitted nodes", default=())


@contextmanager
def permit_nodes(*, reserved_names: bool = False, other_formats: bool = False) -> Iterator[None]:
    """Warn instead of refusing new nodes until the end of the block, for the calling thread or task.

    ``reserved_names`` permits reserved names, ``other_formats`` nodes where one of another format
    exists.
    """
    new = ("reserved_names",) * reserved_names + ("other_formats",) * other_formats
    token = _permitted.set(_permitted.get() + new)
    try:
        yield
    finally:
        _permitted.reset(token)


def check_reserved_names(
    format_: Format, paths: Iterable[str], existing: Container[str] = ()
) -> None:
    """Raise, or warn, if the last names of the paths of new nodes are reserved.

    Specification: v3.1, "Node names".  ``existing`` has names that are not new, such as those of
    the source of a copy.

    Raises
    ------
    NodeNameError
        If a name is reserved, and the settings do not allow it.
    """
    for path in paths:
        name = path.rpartition("/")[2]
        if name in existing or not format_.is_reserved(name):
            continue
        if "reserved_names" not in _permitted.get() and config.settings.reserved_names == "error":
            raise NodeNameError(
                repr(name),
                'names that begin with "__" are reserved by the specification of Zarr; choose '
                'another name, or allow them with zarr_core.config.set(reserved_names="warn")',
            )
        warn(
            f'the new node {"/" + path!r} has a name that begins with "__": the specification of '
            "Zarr reserves such names, and other libraries may ignore the node",
        )


def check_conflicts(store: Store, path: str, format_: Format, paths: Iterable[str]) -> None:
    """Raise a NodeExistsError, or warn, if one of ``paths`` has a node of another format."""
    for existing in paths:
        if other := conflicting_format(store, existing, format_):
            location = Location(store, existing)
            problem = (
                f"has a node of the format {other.name}, which conflicts with a node of "
                f"{format_.name} at {'/' + path!r}; use zarr_format={other.name!r}, or "
                "choose another path"
            )
            if "other_formats" not in _permitted.get():
                raise NodeExistsError(location, problem)
            warn(f"{location}: {problem}")


class StoreSnapshot(WrapperStore):
    """A store that sends each request once, although several checks read the same values.

    It is for the checks before a node is created, between which nothing is written.  It keeps
    values and empty prefixes.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._values: dict[tuple[str, int], Buffer | int | None] = {}
        self.empty_prefixes: set[str] = set()
        """The prefixes below which the store has listed no keys."""

    @classmethod
    def before_creation(
        cls, store: Store, path: str, format_: Format, *, of_node: bool = False
    ) -> Store:
        """Request concurrently what the checks of a new node usually read.

        ``of_node`` also requests the metadata of a node at the path.  Returns the store itself if
        it has no latency.
        """
        if store.max_concurrency is None:
            return store
        snapshot = cls(store)
        nodes = {"", path.rpartition("/")[0], *([path] if of_node else ())}
        work: list[Callable[[], object]] = []
        if path or of_node:
            work += [partial(format_.read, snapshot, node) for node in nodes]
        if store.supports_listing:
            work.append(partial(snapshot.list_prefix, f"{path}/" if path else ""))

        def request(read: Callable[[], object]) -> None:
            try:
                read()
            except Exception as error:  # raised again by the check that needs it
                if getattr(error, "unanswered", False):
                    raise

        parallel_for(work, request, True, store.max_concurrency)
        return snapshot

    def get_limited(self, key: str, limit: int) -> Buffer | int | None:
        try:
            return self._values[key, limit]
        except KeyError:
            value = self.inner.get_limited(key, limit)
        self._values[key, limit] = value
        return value

    def list_prefix(self, prefix: str) -> Iterator[str]:
        if prefix in self.empty_prefixes:
            return iter(())
        keys = iter(self.inner.list_prefix(prefix))
        for first in keys:
            return chain([first], keys)
        self.empty_prefixes.add(prefix)
        return iter(())
