"""Write the reference pages of the distributions other than the core, and the list of modules.

``python scripts/document_reference.py`` writes ``docs/reference``; a test checks that the pages
are current.  The public names of a module are those of its ``__all__``; those of a distribution
of extensions are the classes of its entry points, and what it provides for the core.
"""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"

CORE = {
    "zarr_core": "opening, creating, arrays, groups, copying, settings",
    "zarr_core.extension": "the interfaces of extensions",
    "zarr_core.errors": "exceptions",
}
"""The public modules of the core, whose pages are written by hand."""

MODULES: dict[str, tuple[str, ...]] = {
    "zarr-transfer": ("zarr_transfer",),
    "zarr-stores": tuple(
        f"zarr_stores.{name}"
        for name in (
            "zip", "object", "fsspec", "databases.sqlite", "databases.lmdb",
            "databases.dbm", "databases.redis", "databases.mongodb", "databases.postgresql",
            "references", "wrappers.temp", "cache.lru_cache",
            "wrappers.prefix", "wrappers.read_only", "wrappers.log",
            "wrappers.synchronizers", "wrappers.synchronized_store",
        )
    ),
    "zarr-xarray": ("zarr_xarray",),
    "zarr-dask": ("zarr_dask",),
    "zarr-import": ("zarr_import",),
    "zarr-native": ("zarr_native",),
    "zarr-compat": ("zarr_compat",),
    "zarr-bridge": ("zarr_bridge.stores", "zarr_bridge.icechunk"),
    "zarr-cli": (
        "zarr_cli.check", "zarr_cli.validate", "zarr_cli.compare", "zarr_cli.serve.server",
    ),
    "zarr-conformance": ("zarr_conformance.kit",),
}  # fmt: skip
"""The public modules of distributions with functions and classes for programs."""

EXTENSIONS = (
    "zarr-codecs", "zarr-dtypes", "zarr-grids", "zarr-sharding", "zarr-formats",
)  # fmt: skip
"""Distributions whose public names are the classes of their entry points and for the core."""


def _settings(distribution: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "packages" / distribution / "pyproject.toml").read_text())


def project(distribution: str) -> dict[str, Any]:
    """Return the table ``project`` of a distribution."""
    found: dict[str, Any] = _settings(distribution)["project"]
    return found


def public_names(distribution: str) -> dict[str, list[str]]:
    """Return the public modules of a distribution with their public names."""
    if distribution in MODULES:
        return {name: _names(name) for name in MODULES[distribution]}
    found: dict[str, list[str]] = {}
    functions = _settings(distribution).get("tool", {}).get("zarr-core", {}).get("functions", {})
    for group in (*project(distribution)["entry-points"].values(), functions):
        for target in group.values():
            module, _, name = target.partition(":")
            if name and module.startswith(distribution.replace("-", "_")):
                names = found.setdefault(module, [])
                if name not in names:
                    names.append(name)
    return {module: sorted(found[module]) for module in sorted(found)}


def _names(module: str) -> list[str]:
    found = import_module(module)
    names = getattr(found, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(found).items()
            if not name.startswith("_")
            and name != "main"
            and getattr(value, "__module__", None) == module
        ]
    return sorted(names)


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    found = {}
    for distribution in (*MODULES, *EXTENSIONS):
        found[f"{distribution.replace('-', '_')}.md"] = _page(distribution)
    found["modules.md"] = _module_list()
    return found


def _page(distribution: str) -> str:
    about = project(distribution)["description"]
    parts = [f"# {distribution}\n\n{about}.\n\nInstall it with `pip install {distribution}`.\n"]
    for module, names in public_names(distribution).items():
        rows = "\n".join(f"   {name}" for name in names)
        parts.append(
            f"## {module}\n\n```{{eval-rst}}\n.. currentmodule:: {module}\n\n"
            f".. autosummary::\n   :toctree: made\n   :nosignatures:\n\n{rows}\n```\n"
        )
    return "\n".join(parts)


def _module_list() -> str:
    rows = [f"| `{name}` | {about} |" for name, about in CORE.items()]
    for distribution in (*MODULES, *EXTENSIONS):
        for module, names in public_names(distribution).items():
            rows.append(f"| `{module}` | {', '.join(f'`{name}`' for name in names)} |")
    return (
        "# Public modules\n\nPrograms and plugins can import these modules, and the names that "
        "these pages list. All other\nmodules and names are private and may change in any "
        "release. [Support](../support.md) describes what may\nchange in public ones.\n\n"
        "| module | names |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)


if __name__ == "__main__":
    main()
