"""Where the compression libraries come from.

A library whose development files were present when this distribution was built is linked.
Otherwise it is looked for in the modules that the Python codecs use, which are not imported, and
used only if it passes a test.
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

_NEWER_ZSTD = (
    "zstandard",
    "_cffi",
)  # 1.5.7 compresses chunks of 32 KiB by a quarter faster than 1.5.6

_lock = threading.Lock()
_problems: dict[str, str] = {}


def problem(library: str) -> str:
    """Why a library is not available; empty if it is.  Loads and tests it at the first call."""
    found = _problems.get(library)
    if found is None:
        with _lock:
            found = _problems.get(library)
            if found is None:
                found = _problems[library] = _load(library)
    return found


def origins() -> dict[str, str]:
    """For every library, where it comes from, or why it is not available."""
    linked = _native.LINKED.split()
    found = {
        name: problem(name)
        or ("linked" if name in linked else f"found in {'.'.join(MODULES[name])}")
        for name in MODULES
    }
    return {**found, "zlib": "linked" if "zlib" in linked else "not linked"}


def _load(library: str) -> str:
    if library in _native.LINKED.split():
        return _native.load_library(library, "") or ""
    package, module = MODULES[library]
    file = _module_file(package, module)
    if file is None:
        return f"{package} is not installed, or has no compiled module {module}"
    reason = _native.load_library(library, file)
    if reason:
        return f"{file} {reason}"
    if library == "zstd" and (file := _module_file(*_NEWER_ZSTD)):
        _native.load_library("newer zstd", file)  # the other one stays if there is a problem
    return ""


def _module_file(package: str, module: str) -> Path | None:
    """Find the file of a compiled module, without importing its package."""
    spec = PathFinder.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for suffix in EXTENSION_SUFFIXES:
            file = Path(folder, module + suffix)
            if file.is_file():
                return file
    return None
