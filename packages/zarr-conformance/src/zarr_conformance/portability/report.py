"""Which libraries read the nodes of a hierarchy, and what stops the others."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_conformance.portability.describe import describe, remedy
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
