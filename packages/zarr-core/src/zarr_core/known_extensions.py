"""What the distributions of this project declare, which need not be installed.

``scripts/list_extensions.py`` writes ``known_extensions.json``.
"""

import json
import os.path
import sys
from typing import Any

_loader: Any = sys.modules[__name__].__loader__  # also in a zip archive
_KNOWN = json.loads(
    _loader.get_data(os.path.join(os.path.dirname(__file__), "known_extensions.json"))
)

CORE_ENTRY_POINTS: dict[str, dict[str, str]] = _KNOWN["core_entry_points"]
"""For an extension point, the names and targets of the core."""

EXTENSIONS: dict[str, dict[str, str]] = _KNOWN["extensions"]
"""For a distribution, the names of its extensions; ``*`` for the rest of a name."""

EXTRAS: dict[str, dict[str, str]] = _KNOWN["extras"]
"""For a distribution and an extra, the stores that need it."""

ARGUMENTS: dict[str, dict[str, Any]] = _KNOWN["arguments"]
"""For an argument of create_array, the definition that it selects."""

URL_CHAINS: str = _KNOWN["url_chains"]
"""The store for chains of URLs."""

FILE_SUFFIXES: tuple[str, ...] = tuple(_KNOWN["file_suffixes"])
"""Stores for the files with that suffix."""

FUNCTIONS: dict[str, tuple[str, str]] = _KNOWN["functions"]
"""For a function or method of zarr_core, the distribution that provides it, and its target."""

OTHER_OBJECTS: dict[str, str] = _KNOWN["other_objects"]
"""For a module, what to use instead of opening a store from one of its objects."""

DETECTION_ORDER: tuple[str, ...] = tuple(_KNOWN["detection_order"])
"""Formats in the order in which they are tried."""

METADATA_KEYS: dict[str, tuple[str, ...]] = _KNOWN["metadata_keys"]
"""For a format, the names of its metadata documents; those that make a node first."""

CONFLICTS: dict[str, str] = _KNOWN["conflicts"]
"""For a format, one that it is preferred to if a node has metadata documents of both."""

FORMAT_EXTENSIONS: dict[str, str] = _KNOWN["format_extensions"]
"""Extensions that exist in one format only, and what to do instead."""
