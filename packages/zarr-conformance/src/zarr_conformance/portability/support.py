"""The measured table: which features, and combinations of features, stop a library."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.portability.features import IF_KNOWN, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONSOLIDATED = "/consolidated: "
"""Separates the version and the feature of a node in consolidated metadata."""

EMPTY = frozenset({"v2/length 0", "v3/length 0"})
"""The features of arrays without chunks."""

GROUPS = frozenset({"v2/group", "v3/group"})
"""The features of groups."""

TABLE = Path(__file__).with_name("support.json")
"""The table, which ``scripts/measure_portability.py`` writes."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a library does not read a node.

    Parameters
    ----------
    features : frozenset of str
        The features that it does not read, together if there are several.
    outcome : {"refuses", "wrong", "crash"}
        What it does: it raises an error, returns wrong elements, or crashes.
    message : str
        The error message that was measured, if any.
    chunks : bool
        Whether it happens only if there are chunks to read.
    """

    features: frozenset[str]
    outcome: str
    message: str = ""
    chunks: bool = False


@dataclass(frozen=True, slots=True)
class Support:
    """The table of features.

    Parameters
    ----------
    libraries : mapping of str to mapping
        For each library, its version and how its row was obtained.
    features : frozenset of str
        All features that were tested.
    date : str
        When it was measured.
    causes : mapping of str to list of Stop
        What stops each library.
    """

    libraries: Mapping[str, Mapping[str, Any]]
    features: frozenset[str]
    date: str
    causes: Mapping[str, list[Stop]] = field(repr=False)

    @classmethod
    def load(cls, content: Mapping[str, Any] | None = None) -> Support:
        """Return the table; by default that of this distribution."""
        if content is None:
            content = json.loads(TABLE.read_text("utf-8"))
        causes: dict[str, list[Stop]] = {name: [] for name in content["libraries"]}
        for entry in content["unsupported"]:
            for name, how in entry["libraries"].items():
                message, chunks = how.get("message", ""), how.get("chunks", False)
                stop = Stop(frozenset(entry["features"]), how["outcome"], message, chunks)
                causes[name].append(stop)
        features = frozenset(content["features"])
        return cls(content["libraries"], features, content["date"], causes)

    def unsupported(self, features: Iterable[str], library: str) -> list[Stop]:
        """Return what stops a library from reading a node with these features.

        A combination is omitted if a part of it is a reason of its own.
        """
        known = {self.known(feature) for feature in features}
        if known & GROUPS and not self.libraries[library].get("groups", True):
            return []
        has_chunks = not known & EMPTY
        unsupported = [
            cause
            for cause in self.causes[library]
            if cause.features <= known and (has_chunks or not cause.chunks)
        ]
        return [
            item
            for item in unsupported
            if not any(other.features < item.features for other in unsupported)
        ]

    def is_known(self, feature: str) -> bool:
        """Whether a feature was measured; extensions that no table contains are unknown ones.

        Consolidated metadata has the same documents as the nodes, so a feature is known there if
        it was measured in the document of a node.
        """
        version, _, inside = feature.partition(CONSOLIDATED)
        known = self.known(feature) in self.features
        return known or (bool(inside) and self.is_known(version) and self.is_known(inside))

    def known(self, feature: str) -> str:
        """Return a feature with ``?`` instead of an extension that the table does not contain."""
        if feature in self.features:
            return feature
        if (required := feature.replace(IF_KNOWN, "")) in self.features:
            return required
        optional = IF_KNOWN if IF_KNOWN in feature else ""
        parts = feature.split("/")
        for position in range(len(parts) - 1, 0, -1):
            if "/".join(parts[:position]) in self.features and position > 1:
                return feature  # the extension is known, but not its configuration
            general = "/".join((*parts[:position], UNKNOWN)) + optional
            if general in self.features:
                return general
        return feature
