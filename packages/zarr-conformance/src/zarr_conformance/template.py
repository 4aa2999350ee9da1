"""Templates of distributions for authors of extensions."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

EXTENSION_POINTS = {
    "codec": "codec",
    "array-to-array-codec": "codec",
    "array-to-bytes-codec": "codec",
    "native-codec": "codec with C functions",
    "data-type": "data type",
    "chunk-grid": "chunk grid",
    "chunk-key-encoding": "chunk key encoding",
    "chunk-memory-layout": "chunk memory layout",
    "storage-transformer": "storage transformer",
    "extension": "metadata member",
    "format": "format",
    "store": "store",
    "bridge": "bridge",
    "display": "display",
    "native": "native executor",
    "hooks": "hooks",
}
"""The extension points with a template, and their names in text; codecs have four."""

OTHER_NAMES = {
    "bytes-to-bytes-codec": "codec",
    "metadata-extension": "extension",
    "native-executor": "native",
}
"""Further names of the templates: those of the pages of requirements."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*").fullmatch
_IN_URLS = ("store", "format")
_ENTRY_POINTS = {
    "bridge": "zarr_supply_extension",
    "chunk-memory-layout": "https://example.org/NAME/1.0",  # the draft uses URIs as names
    "display": "default",  # the only name of this extension point
    "native": "default",
}
# If it is not the name of the template.
_GROUPS = dict.fromkeys(("array-to-array-codec", "array-to-bytes-codec", "native-codec"), "codec")
_GROUPS["bridge"] = "hooks"
_TESTS_NEED = {
    "codec": ', "zarr-sharding"',  # codecs are tested in shards too
    "array-to-array-codec": ', "zarr-sharding"',
    "array-to-bytes-codec": ', "zarr-sharding"',
    "native-codec": ', "zarr-sharding", "zarr-native"',
    "bridge": ', "zarr-sharding"',
    "chunk-memory-layout": ', "zarr-formats"',
}


def template_name(word: str) -> str:
    """The name of a template for one of its names; others are returned as they are."""
    word = word.replace("_", "-")  # as in the group of the entry point
    return OTHER_NAMES.get(word, word)


def new_distribution(extension_point: str, name: str, into: Path) -> Path:
    """Write a distribution whose tests pass.

    Parameters
    ----------
    extension_point : str
        One of :data:`EXTENSION_POINTS` or :data:`OTHER_NAMES`, also with ``_``.
    name : str
        Name of the extension, such as ``"acme.delta"``; for a store the scheme of
        its URLs, such as ``"acme-log"``.
    into : Path
        The parent of the directory of the distribution.

    Returns
    -------
    Path
        The directory of the distribution.

    Raises
    ------
    ValueError
        If the extension point is unknown or the name is not valid.
    FileExistsError
        If the directory already exists.
    """
    extension_point = template_name(extension_point)
    if extension_point not in EXTENSION_POINTS:
        raise ValueError(
            f"unknown extension point {extension_point!r}; expected one of {', '.join(EXTENSION_POINTS)}"
        )
    if not _NAME(name):
        raise ValueError(
            f"{name!r} is not a valid name: use lower-case letters and digits, separated by single "
            "'.', '_' or '-'"
        )
    if extension_point in _IN_URLS and "_" in name:
        raise ValueError(f"{name!r}: the name of a {extension_point} must not contain '_'")
    words = re.split(r"[._-]", name)
    distribution, package = "-".join(words), "_".join(words)
    class_name = "".join(word.capitalize() for word in words)
    folder = into / distribution
    if folder.exists():
        raise FileExistsError(f"{folder} already exists")
    values = {
        "@NAME@": name,
        "@DISTRIBUTION@": distribution,
        "@PACKAGE@": package,
        "@CLASS@": class_name,
        "@GROUP@": _GROUPS.get(extension_point, extension_point.replace("-", "_")),
        "@EXTENSION_POINT@": EXTENSION_POINTS[extension_point],
        "@ENTRY_POINT@": _ENTRY_POINTS.get(extension_point, name).replace("NAME", name),
        "@OBJECT@": class_name,
        "@TARGET@": package if extension_point == "bridge" else f"{package}:{class_name}",
        # A module whose entry points have the names of hooks is imported when one is called.
        "@MORE@": f'\nzarr_list_extensions = "{package}"' if extension_point == "bridge" else "",
        "@TESTS_NEED@": _TESTS_NEED.get(extension_point, ""),
    }
    templates = files("zarr_conformance") / "templates"
    values["@USE@"] = _substitute(
        (templates / extension_point / "use.md.txt").read_text("utf-8"), values
    )
    for source in ("common", extension_point):
        for file in (templates / source).iterdir():
            if file.name != "use.md.txt":  # part of the README
                _write(file, folder, values)
    (folder / "src" / package / "py.typed").touch()
    return folder


# The paths of the files of a template; these end in .txt because they contain placeholders.
_PATHS = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "LICENSE": "LICENSE",
    "module.py": "src/@PACKAGE@/__init__.py",
    "native.c": "src/@PACKAGE@/_native.c",
    "zarr_codec.h": "src/@PACKAGE@/zarr_codec.h",
    "schema.json": "src/@PACKAGE@/schemas/@GROUP@/@NAME@.json",
    "test.py": "tests/test_@PACKAGE@.py",
}


def _write(file: Traversable, folder: Path, values: dict[str, str]) -> None:
    target = folder / _substitute(_PATHS[file.name.removesuffix(".txt")], values)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_substitute(file.read_text(encoding="utf-8"), values), encoding="utf-8")


def _substitute(text: str, values: dict[str, str]) -> str:
    for word, value in values.items():
        text = text.replace(word, value)
    return text
