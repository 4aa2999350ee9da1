"""Arrays that given libraries read: problems of metadata, and arguments without problems."""

from __future__ import annotations

import json
from collections import Counter
from difflib import get_close_matches
from functools import cache, partial
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_conformance.portability.describe import advice, describe, remedy
from zarr_conformance.portability.features import node_features
from zarr_conformance.portability.support import Support

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zarr_conformance.portability.features import Feature
    from zarr_conformance.portability.support import Stop

ALIASES = {
    "zarr": "zarr-python",
    "zarr-python-3": "zarr-python",
    "zarrs": "zarrista",
    "zarrita": "zarrita.js",
    "n5": "n5-java",
    "rasterio": "gdal",
}
"""Other names of the libraries in the table."""


class Obstacle(NamedTuple):
    """What stops a library from reading a node.

    Parameters
    ----------
    library : str
        The name of the library.
    stop : Stop
        The features and the measured outcome.
    feature : Feature
        The feature that should be changed, with its JSON pointer.
    """

    library: str
    stop: Stop
    feature: Feature

    @property
    def message(self) -> str:
        """What the library does and why, without its name."""
        own = table().known(
            self.feature.id
        )  # "?" instead of an extension that the table does not contain
        what = " with ".join(
            describe(self.feature.id if item == own else item) for item in self._ordered(own)
        )
        return {
            "refuses": f"does not read {what}",
            "wrong": f"reads wrong elements with {what}",
            "crash": f"crashes with {what}",
        }[self.stop.outcome]

    @property
    def remedy(self) -> str:
        """What to do."""
        return remedy(self.feature.id)

    def _ordered(self, own: str) -> list[str]:
        return sorted(self.stop.features, key=lambda item: item != own)


class Requirement:
    """That given libraries read an array or a hierarchy.

    Parameters
    ----------
    libraries : str or iterable of str
        The names of libraries, as :func:`library_names` returns them, or their aliases.

    Raises
    ------
    ValueError
        If a library is unknown.
    """

    def __init__(self, libraries: str | Iterable[str]) -> None:
        names = [libraries] if isinstance(libraries, str) else list(libraries)
        self.libraries = tuple(dict.fromkeys(map(library_name, names)))

    def obstacles(self, path: str, documents: Mapping[str, Any]) -> list[Obstacle]:
        """Return what stops the libraries from reading a node.

        Parameters
        ----------
        path : str
            The path of the node in its store.
        documents : mapping of str to JSON
            Its metadata documents, as for
            :func:`~zarr_conformance.portability.features.node_features`.
        """
        features = node_features(path, documents)
        return [stop for library in self.libraries for stop in obstacles(features, library)]

    def problems(self, path: str, documents: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return a JSON pointer and a message for each obstacle, and each unknown feature."""
        versions = {library: table().libraries[library]["version"] for library in self.libraries}
        problems = [
            (
                obstacle.feature.pointer,
                f"{obstacle.library} {versions[obstacle.library]} {obstacle.message}; {advice(obstacle.feature.id)}",
            )
            for obstacle in self.obstacles(path, documents)
        ]
        names = ", ".join(self.libraries)
        problems += [
            (
                feature.pointer,
                f"it is unknown whether {names} read {describe(feature.id)}; {advice(feature.id)}",
            )
            for feature in node_features(path, documents)
            if not table().is_known(feature.id)
        ]
        return problems


@cache
def table() -> Support:
    """Return the table of this distribution."""
    return Support.load()


def library_names() -> list[str]:
    """Return the names of the libraries in the table."""
    return list(table().libraries)


def library_name(text: str) -> str:
    """Return the name in the table of a library or its alias.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    name = ALIASES.get(text.lower(), text.lower())
    known = library_names()
    if name in known:
        return name
    close = get_close_matches(name, [*known, *ALIASES], 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise ValueError(f"unknown library {text!r}{hint} Known libraries: {', '.join(known)}")


def obstacles(features: Sequence[Feature], library: str) -> Iterator[Obstacle]:
    """Yield what stops a library from reading a node with these features."""
    support = table()
    by_id = {support.known(feature.id): feature for feature in features}
    order = list(by_id)
    for stop in support.unsupported(by_id, library):
        # Of a combination, the one that stops libraries most often, or the last in the document.
        cause = max(stop.features, key=lambda item: (involved()[item], order.index(item)))
        yield Obstacle(library, stop, by_id[cause])


@cache
def involved() -> Counter[str]:
    """Return in how many reasons each feature is involved."""
    causes = table().causes.values()
    return Counter(feature for stops in causes for stop in stops for feature in stop.features)


def parents(path: str) -> list[str]:
    """Return the paths of the groups that contain a node."""
    parts = path.split("/") if path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts))]


def report(
    nodes: Iterable[tuple[str, Mapping[str, Any]]], libraries: Iterable[str]
) -> list[dict[str, Any]]:
    """Return which libraries read a hierarchy, and what stops the others, as JSON.

    Parameters
    ----------
    nodes : iterable of (str, mapping)
        The path of each node, and its metadata documents.
    libraries : iterable of str
        Names of libraries in the table.

    Returns
    -------
    list of dict
        For each library ``name``, ``version``, ``source``, ``reads``, ``note``, ``reasons`` and
        ``unknown``: features that were not measured.  If there are some, and no reasons, ``reads``
        is None.
    """
    support = table()
    documents = dict(nodes)
    features = [
        (path, node_features(path, own, documents.get(""))) for path, own in documents.items()
    ]
    new = sorted(
        {feature.id for _, ids in features for feature in ids if not support.is_known(feature.id)}
    )
    entries = []
    for library in libraries:
        reasons = [
            {
                "path": f"/{path}",
                "document": obstacle.feature.document,
                "pointer": obstacle.feature.pointer,
                "features": sorted(obstacle.stop.features),
                "outcome": obstacle.stop.outcome,
                "message": obstacle.message
                + (f" ({obstacle.stop.message})" if obstacle.stop.message else ""),
                "remedy": obstacle.remedy,
            }
            for path, ids in features
            for obstacle in obstacles(ids, library)
        ]
        row = support.libraries[library]
        entries.append(
            {
                "name": library, "version": row["version"], "source": row["source"],
                "reads": None if new and not reasons else not reasons, "note": row.get("note", ""), "reasons": reasons,
                "unknown": [] if reasons else new,
            }
        )  # fmt: skip
    return entries


# --- create_array ---

_GZIP = {"name": "gzip", "configuration": {"level": 5}}
_ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
_LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def create_portable_array(store: Any, libraries: str | Iterable[str], **options: Any) -> Any:
    """Create an array that libraries read.

    Arguments with their defaults are chosen so that the libraries read the array: the format,
    if the array is not in a hierarchy, the compressors and the byte order.

    Parameters
    ----------
    store : store-like
        The location.
    libraries : str or iterable of str
        The names of the libraries.
    **options
        All other arguments of :func:`zarr_core.create_array`.

    Raises
    ------
    MetadataValidationError
        If a library does not read an array with these arguments, before anything is written.
    """
    import zarr_core
    from zarr_core.extension import Location, MetadataValidationError, ValidationProblem, ZarrError

    requirement = Requirement(libraries)
    path, parent = _path_and_format(store, options)
    described = {name: value for name, value in options.items() if name not in _OF_THE_STORE}
    data, create = described.pop("data", None), zarr_core.create_array
    if isinstance(data, zarr_core.Array):
        described = {"shape": data.shape, "dtype": data.metadata.data_type, **described}
    elif data is not None:
        create = partial(zarr_core.empty_like, data)
    fewest: list[tuple[str, str]] | None = None
    refusal: ZarrError | None = None
    for choice in _choices(options, parent):
        memory = zarr_core.MemoryStore()
        try:
            trial = create(**(described | choice | {"store": memory, "path": path}))
        except ZarrError as error:  # one of the formats may not have the data type, for example
            refusal = error if refusal is None else refusal
            continue
        problems = requirement.problems(path, stored_documents(trial))
        if not problems:
            return zarr_core.create_array(store, **(options | choice))
        if fewest is None or len(problems) < len(fewest):
            fewest = problems
    if fewest is None and refusal is not None:
        raise refusal
    reasons = [ValidationProblem(pointer, message) for pointer, message in fewest or ()]
    raise MetadataValidationError(Location("new array", path), reasons)


_OF_THE_STORE = ("storage_options", "overwrite")


def _choices(options: Mapping[str, Any], parent: int | str | None) -> Iterator[dict[str, Any]]:
    """Yield changes of arguments that have their defaults, the smallest first."""
    alternatives: dict[str, list[Any]] = {}
    if options.get("zarr_format") is None:
        alternatives["zarr_format"] = [3, 2] if parent is None else [parent]
    if _is_auto(options, "compressors"):
        alternatives["compressors"] = ["auto", _ZSTD, _GZIP, None]
    if _is_auto(options, "serializer"):
        alternatives["serializer"] = ["auto"]
        dtype = options.get("dtype")
        if getattr(dtype, "byteorder", "") == ">" or str(dtype)[:1] == ">":
            alternatives["serializer"].append(_LITTLE)
    for values in product(*alternatives.values()):
        yield dict(zip(alternatives, values, strict=True))


def _is_auto(options: Mapping[str, Any], name: str) -> bool:
    value = options.get(name, "auto")
    return isinstance(value, str) and value == "auto"


def _path_and_format(store: Any, options: Mapping[str, Any]) -> tuple[str, int | str | None]:
    """Return the path of a new array in its store, and the format of the hierarchy around it.

    The format is None if the array is not in a hierarchy.
    """
    import zarr_core
    from zarr_core.errors import NodeNotFoundError, StoreError
    from zarr_core.formats.detect import read_node

    path = options.get("path") or ""
    if hasattr(store, "zarr_format"):  # a group
        return f"{store.path}/{path}".strip("/"), store.zarr_format
    try:
        opened, path = zarr_core.resolve_store_path(
            store, path, storage_options=options.get("storage_options"), read_only=True
        )
    except (StoreError, OSError):  # such as an archive that does not exist yet
        return path, None
    try:
        for parent in reversed(parents(path)):
            try:
                format_, _ = read_node(opened, parent)
            except NodeNotFoundError:
                continue
            return path, {"v2": 2, "v3": 3}.get(format_.name, format_.name)
        return path, None
    finally:
        if isinstance(store, str | PathLike):
            opened.close()


def stored_documents(array: Any) -> dict[str, Any]:
    """Return the metadata documents of a stored array by their names."""
    stored = array.stored
    documents = {}
    for key in stored.format.documents(stored.path):
        content = stored.store.get(key)
        if content is not None:
            documents[key.rpartition("/")[2]] = json.loads(bytes(content))
    return documents
