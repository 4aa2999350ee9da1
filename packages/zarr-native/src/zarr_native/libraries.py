"""Where the compression libraries come from.

A library is looked for in the modules that the Python codecs use, which are not imported, and used
only if it passes a test: both then write the same bytes.  Otherwise the linked one is used, if its
development files were present when this distribution was built.
"""

from __future__ import annotations

import threading
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path

from zarr_native import _native

MODULES = {
    "zstd": ("numcodecs", "zstd"),
    "blosc": ("numcodecs", "blosc"),
    "lz4": ("numcodecs", "lz4"),
    "deflate": ("deflate", "_deflate"),
}
"""For a library, the package and module that contain it."""

_SMALL_ZSTD = ("zstandard", "_cffi")
"""The zstd for chunks of up to 128 KiB, as in zarr-codecs; see docs/decisions/0028."""

_lock = threading.Lock()
_problems: dict[str, str] = {}
_origins: dict[str, str] = {}


def problem(library: str) -> str:
    """Why a library is not available; empty if it is.  Loads and tests it at the first call."""
    known = _problems.get(library)
    if known is None:
        with _lock:
            known = _problems.get(library)
            if known is None:
                known = _problems[library] = _load(library)
    return known


def origins() -> dict[str, str]:
    """For every library, where it comes from, or why it is not available."""
    states = {name: problem(name) or _origins[name] for name in MODULES}
    linked = "zlib" in _native.LINKED.split()
    return {**states, "zlib": "linked" if linked else "not linked"}


def _load(library: str) -> str:
    reason = _find(library, *MODULES[library])
    if not reason:
        _origins[library] = f"found in {'.'.join(MODULES[library])}"
    elif library in _native.LINKED.split():
        reason = _native.load_library(library, "") or ""
        _origins[library] = "linked"
    if library == "zstd" and not reason and not _find("small zstd", *_SMALL_ZSTD):
        _origins[library] += f", for small chunks in {'.'.join(_SMALL_ZSTD)}"
    return reason


def _find(library: str, package: str, module: str) -> str:
    """Load a library from a compiled module; return why that is not possible, or an empty text."""
    file = _module_file(package, module)
    if file is None:
        return f"{package} is not installed, or has no compiled module {module}"
    reason = _native.load_library(library, file)
    return f"{file} {reason}" if reason else ""


def _module_file(package: str, module: str) -> Path | None:
    """Find the file of a compiled module, without importing its package."""
    spec = PathFinder.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for suffix in EXTENSION_SUFFIXES:
            file = Path(folder, module + suffix)
            if file.is_file():
                return file
    return None
