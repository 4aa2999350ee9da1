"""Complete distributions for authors to begin with."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

KINDS = {
    "codec": "codec",
    "data-type": "data type",
    "chunk-grid": "chunk grid",
    "chunk-key-encoding": "chunk key encoding",
    "chunk-memory-layout": "chunk memory layout",
    "storage-transformer": "storage transformer",
    "extension": "metadata member",
    "format": "format",
    "store": "store",
    "bridge": "bridge",
    "hooks": "hooks",
}
"""What there is a template of, with its words: the kinds of extension of zarr-core."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*").fullmatch
_IN_URLS = ("store", "format")
_POINTS = {"chunk-memory-layout": "https://example.org/NAME/1.0"}  # the draft names by URIs
_TESTS_NEED = {
    "codec": ', "zarr-sharding"',  # codecs are tried in shards, too
    "bridge": ', "zarr-sharding"',
    "chunk-memory-layout": ', "zarr-formats"',
}


def new_distribution(kind: str, name: str, into: Path) -> Path:
    """Write a distribution whose tests pass as it is.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    name : str
        Name of the extension, such as ``"acme.delta"``; for a store the scheme of
        its URLs, such as ``"acme-log"``.
    into : Path
        The directory in which that of the distribution is made.

    Returns
    -------
    Path
        The directory of the distribution.

    Raises
    ------
    ValueError
        If there is no such kind, or the name is none.
    FileExistsError
        If the directory is there already.
    """
    kind = kind.replace("_", "-")  # as in the group of its entry point
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r}; known: {', '.join(KINDS)}")
    if not _NAME(name):
        raise ValueError(
            f"{name!r} is no name for an extension: lower-case letters, digits, and single "
            "'.', '_' or '-' between them"
        )
    if kind in _IN_URLS and "_" in name:
        raise ValueError(f"{name!r}: the name of a {kind} has no '_'")
    words = re.split(r"[._-]", name)
    distribution, package = "-".join(words), "_".join(words)
    class_name = "".join(word.capitalize() for word in words)
    folder = into / distribution
    if folder.exists():
        raise FileExistsError(f"{folder} is there already")
    values = {
        "@NAME@": name,
        "@DISTRIBUTION@": distribution,
        "@PACKAGE@": package,
        "@CLASS@": class_name,
        "@GROUP@": kind.replace("-", "_"),
        "@KIND@": KINDS[kind],
        "@POINT@": _POINTS.get(kind, name).replace("NAME", name),
        "@OBJECT@": "providers" if kind == "bridge" else class_name,
        "@TESTS_NEED@": _TESTS_NEED.get(kind, ""),
    }
    templates = files("zarr_conformance") / "templates"
    values["@USE@"] = _filled((templates / kind / "use.md.txt").read_text("utf-8"), values)
    for source in ("common", kind):
        for file in (templates / source).iterdir():
            if file.name != "use.md.txt":  # a part of the README
                _write(file, folder, values)
    (folder / "src" / package / "py.typed").touch()
    return folder


# Where the files of a template go; they end in .txt, since they are no code yet.
_PLACES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "LICENSE": "LICENSE",
    "module.py": "src/@PACKAGE@/__init__.py",
    "schema.json": "src/@PACKAGE@/schemas/@GROUP@/@NAME@.json",
    "test.py": "tests/test_@PACKAGE@.py",
}


def _write(file: Traversable, folder: Path, values: dict[str, str]) -> None:
    target = folder / _filled(_PLACES[file.name.removesuffix(".txt")], values)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_filled(file.read_text(encoding="utf-8"), values), encoding="utf-8")


def _filled(text: str, values: dict[str, str]) -> str:
    for word, value in values.items():
        text = text.replace(word, value)
    return text
