"""The modules that may import each third-party library.

The import linter checks the imports between packages and between the layers of the core.
"""

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PACKAGES = sorted((ROOT / "packages").glob("*/src/*"))
# Users import these in their programs.
PLUGINS = [
    package
    for package in PACKAGES
    if package.name
    not in ("zarr_compat", "zarr_transfer", "zarr_core", "zarr_dask", "zarr_import", "zarr_xarray")
]

IMPORTED_BY = {
    "jsonschema": {"zarr_core.metadata.schema"},
    "importlib_metadata": {"zarr_core.registry.entry_points"},
    "pluggy": {"zarr_core.registry.hookspecs"},
    "numcodecs": {"zarr_codecs._numcodecs", "zarr_compat.codecs", "zarr_compat.v2_codecs"},
    "deflate": {"zarr_codecs._libdeflate"},
    "zstandard": {"zarr_codecs._zstandard"},
    "google_crc32c": {"zarr_codecs.crc32c"},
    "dask": {"zarr_dask._dask"},
    "asyncio": {
        "zarr_bridge.zarr_python_codecs",
        "zarr_compat.async_store",
        "zarr_compat.core_store",
        "zarr_stores.fsspec.calls",
        "zarr_xarray.lazy",
    },
    "fsspec": {"zarr_compat.storage", "zarr_stores.fsspec.location"},
    "h5py": {"zarr_import._h5py"},
    "icechunk": {"zarr_bridge.icechunk"},
    "logging": {"zarr_stores.wrappers.log"},
    "multiprocessing": {"zarr_import.reader_process"},
}
# Imported within functions, on first use.
ONLY_WITHIN_FUNCTIONS = IMPORTED_BY.keys() - {"dask", "pluggy"}
# Modules that are imported only within functions.
LATE = ("zarr_codecs._libdeflate",)


# Used if the program has them, so not required by the distribution.
NOT_DECLARED = {
    "zarr_bridge": {"icechunk"},
    "zarr_compat": {"fsspec", "numcodecs", "zarr"},
    "zarr_stores": {"aiohttp", "botocore"},
}


def module_name(file, package):
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file):
    """Names of the modules that a file imports; whether at the top level; whether for types only."""

    def visit(node, top, typing):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue
            below = top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            for_types = typing or (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            )
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, top, typing
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{file}: relative import"
                yield child.module, top, typing
            yield from visit(child, below, for_types)

    yield from visit(ast.parse(file.read_text()), True, False)


@cache
def all_imports():
    return [
        (module_name(file, package), name, top, typing)
        for package in PACKAGES
        for file in sorted(package.rglob("*.py"))
        for name, top, typing in imports(file)
    ]


@pytest.mark.parametrize("library", IMPORTED_BY)
def test_a_library_has_one_door(library):
    doors = {
        module
        for module, name, _, typing in all_imports()
        if name.partition(".")[0] == library and not typing
    }
    assert doors == IMPORTED_BY[library]


@pytest.mark.parametrize("library", sorted(ONLY_WITHIN_FUNCTIONS))
def test_a_door_opens_when_it_is_needed(library):
    eager = [
        module
        for module, name, top, typing in all_imports()
        if name.partition(".")[0] == library and top and not typing
    ]
    assert not [module for module in eager if not module.startswith(LATE)]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_distribution_declares_what_it_imports(package):
    project = tomllib.loads((package.parents[1] / "pyproject.toml").read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    own = {each.name for each in PACKAGES}
    providers = packages_distributions()
    imported = {
        name.partition(".")[0]
        for module, name, _, typing in all_imports()
        if module.partition(".")[0] == package.name and not typing
    }
    undeclared = {
        library
        for library in imported - own - sys.stdlib_module_names
        if declared.isdisjoint(map(canonicalize_name, providers.get(library, [library])))
    }
    assert undeclared == NOT_DECLARED.get(package.name, set())


# Distributions that use arrays through the public interface.
USERS = (
    "zarr_cli",
    "zarr_compat",
    "zarr_conformance",
    "zarr_transfer",
    "zarr_dask",
    "zarr_display",
    "zarr_formats.consolidate",
    "zarr_import",
    "zarr_stores.cache.recheck",
    "zarr_xarray",
)


def imported_from_the_core(file):
    """Modules of the core that are not public, with the names that a file imports from them."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zarr_core."):
            if node.module not in ("zarr_core.errors", "zarr_core.extension"):
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((it.name, "") for it in node.names if it.name.startswith("zarr_core."))


def test_distributions_import_listed_names_of_the_core():
    names = {
        imported
        for package in PACKAGES
        if package.name != "zarr_core"
        for file in package.rglob("*.py")
        for imported in imported_from_the_core(file)
    }
    listed = tomllib.loads((Path(__file__).parent / "core_imports.toml").read_text())
    expected = {
        (f"zarr_core.{module}", name) for module, row in listed.items() for name in row.split()
    }
    assert names == expected, "each name is a part of the core that others depend on"


def test_plugins_do_not_import_the_top_level_of_the_core():
    users = {
        module.partition(".")[0]
        for module, name, _, _ in all_imports()
        if name == "zarr_core" and not module.startswith(("zarr_core", *USERS))
    }
    assert not users


def test_plugins_do_not_know_each_other():
    names = {package.name for package in PACKAGES}
    known = {
        (module, name)
        for module, name, _, _ in all_imports()
        if name.partition(".")[0] in names - {module.partition(".")[0], "zarr_core"}
        and not module.startswith(
            "zarr_cli."
        )  # commands import other distributions within functions
        # Workers of Dask copy; the core exports the functions of zarr-transfer.
        and (module.partition(".")[0], name) != ("zarr_dask", "zarr_transfer")
        # Imports use the conventions of xarray.
        and (module.partition(".")[0], name) != ("zarr_import", "zarr_transfer.conventions")
        # One adapter of asynchronous stores.
        and (module, name) != ("zarr_bridge.stores", "zarr_compat.async_store")
        and (module, name) != ("zarr_core", "zarr_transfer")
    }
    assert not known


@pytest.mark.parametrize("package", PLUGINS, ids=lambda package: package.name)
def test_the_name_of_a_plugin_costs_nothing(package):
    if package.name == "zarr_native":
        # Like NumPy, it has get_include(), for programs that build extensions.
        assert "zarr_core" not in (package / "__init__.py").read_text().replace("zarr-core", "")
        return
    assert (package / "__init__.py").read_text() == ""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_type_checkers_find_the_types(package):
    assert (package / "py.typed").read_text() == ""
