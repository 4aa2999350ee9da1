"""Finding out which format a node has."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, MetadataError, NodeNotFoundError, ZarrError
from zarr_core.formats.nothing_here import nothing_here
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.names import located
from zarr_core.registry.listing import names
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import implementation, reason, state

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store
    from zarr_core.registry.provider import Implementation

# A node may have documents of several formats, as after a conversion that kept the
# old ones.  The first of these that is there is read; formats of others come last.
_PREFERENCE = ("v3", "v2", "draft", "draft-2021", "n5", "v1")

# For a format, the one after it in that order, with the document of that one which may
# stand beside an array's or a group's own.
_RIVALS = {"v3": ("v2", ".zarray", ".zgroup"), "v2": ("n5", "attributes.json", "attributes.json")}
_MOST_SEEN = 4096
_seen: set[tuple[str, str]] = set()

_order: tuple[Hashable, tuple[str, ...]] = ((), ())


def format_named(name: str | int) -> Format:
    """The format of a name (``"v3"``) or a version (``3``).

    Raises
    ------
    UnknownExtensionError
        If no distribution that provides it is installed.
    ExtensionLoadError
        If what provides it is broken.
    """
    found = _provided(name)
    try:
        made: Format = found.extension()
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        raise found.provider.failure(reason(error)) from error
    return made


def read_node(
    store: Store, path: str, zarr_format: int | str | None = None
) -> tuple[Format, NodeMetadata]:
    """Read the metadata of a node, in whatever installed format it has.

    Parameters
    ----------
    store : Store
        Where to look.
    path : str
        Normalised path of the node.
    zarr_format : int or str, optional
        Look for this format only.

    Raises
    ------
    NodeNotFoundError
        If there is no node; says what was looked for, what is there instead, and
        what to install if there is one of a known format that nobody here reads.

    Warns
    -----
    UserWarning
        Once for a node that has documents of two formats: version 3 is preferred to
        version 2, and this to N5.  Not looked for in stores with latency, where it
        would cost more requests than opening.
    """
    marks: list[str] = []
    broken: list[str] = []
    for name in _candidates(zarr_format):
        try:
            format_ = format_named(name)
        except ExtensionError as error:  # broken or in conflict: of no concern to others
            if zarr_format is not None:
                raise
            broken.append(f"The format {name!r} could not be asked: {error}")
            continue
        try:
            metadata = format_.read(store, path)
            if not isinstance(metadata, ArrayMetadata | GroupMetadata | None):
                raise TypeError(f"read gave {metadata!r}, which is no metadata")
        except BaseException as error:
            if isinstance(error, ZarrError | OSError) or not is_fault(error):
                raise
            failure = _provided(name).provider.failure(f"its read failed: {reason(error)}")
            if zarr_format is not None or name in _PREFERENCE:
                raise failure from error
            # A stranger's is of no concern to others.
            broken.append(f"The format {name!r} could not be asked: {failure}")
            continue
        if metadata is not None:
            if zarr_format is None and store.requests is None and format_.name in _RIVALS:
                _warn_of_rivals(store, path, format_.name, metadata)
            return format_, metadata
        marks += format_.marks
    where = located(store, path)
    raise NodeNotFoundError(where, ". ".join([nothing_here(store, path, marks), *broken]))


def format_of_new(store: Store, path: str, zarr_format: int | str | None) -> Format:
    """The format of a node that is to be made.

    What was asked for; else that of the hierarchy in which the node will lie; else
    version 3.

    Raises
    ------
    UnknownExtensionError
        If no distribution that provides the format is installed.
    """
    if zarr_format is not None:
        return format_named(zarr_format)
    newest = format_named("v3")
    if path and newest.read(store, "") is None:
        for ancestor in dict.fromkeys((path.rpartition("/")[0], "")):
            if newest.read(store, ancestor) is not None:
                break
            if other := rival(store, ancestor, newest):
                return other
    return newest


def _provided(name: str | int) -> Implementation:
    if not isinstance(name, int | str):
        raise TypeError(f"zarr_format is the number or the name of a format, not {name!r}")
    called = f"v{name}" if isinstance(name, int) else name
    found = implementation("format", ExtensionDefinition(called))
    assert found is not None  # formats are never left out
    return found


def rival(store: Store, path: str, format_: Format) -> Format | None:
    """Another format that has a node at a path, damaged or not."""
    prefix = f"{path}/" if path else ""
    if store.supports_listing and next(iter(store.list_prefix(prefix)), None) is None:
        return None  # the usual case of a new node, told by one request
    for other in formats_without(format_.name):
        try:
            if other.read(store, path) is not None:
                return other
        except MetadataError:
            return other
        except BaseException as error:
            if isinstance(error, ZarrError | OSError) or not is_fault(error):
                raise
            continue  # broken, and as above
    return None


def formats_without(name: str) -> Iterator[Format]:
    """The installed formats but one."""
    for other in names("format"):
        if other != name:
            try:
                yield format_named(other)
            except ExtensionError:  # broken: no other is affected
                continue


def _candidates(zarr_format: int | str | None) -> Iterator[int | str]:
    """The formats to look for; others than version 3 only if that one is not found."""
    if zarr_format is not None:
        yield zarr_format
        return
    yield _PREFERENCE[0]
    yield from _others()


def _others() -> tuple[str, ...]:
    """The installed formats but the first, in order of preference; remembered."""
    global _order
    now = state()
    if _order[0] != now:
        installed = names("format")
        first = [name for name in _PREFERENCE[1:] if name in installed]
        _order = (now, (*first, *(name for name in installed if name not in _PREFERENCE)))
    return _order[1]


def _warn_of_rivals(store: Store, path: str, name: str, metadata: NodeMetadata) -> None:
    place = (store.url, path)
    if place in _seen:
        return
    if len(_seen) >= _MOST_SEEN:
        _seen.clear()
    _seen.add(place)
    rival, of_array, of_group = _RIVALS[name]
    mark = of_array if isinstance(metadata, ArrayMetadata) else of_group
    key = f"{path}/{mark}" if path else mark
    if rival in _others() and store.exists(key):
        warnings.warn(
            f"{store} {'/' + path!r} has documents of two formats: it is read as {name}, and "
            f"{key!r} is left aside; zarr_format=... chooses",
            UserWarning,
            stacklevel=5,  # who called open
        )
