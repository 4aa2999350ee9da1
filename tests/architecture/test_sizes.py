"""Sizes of the code that may fall and not rise; ``sizes.toml`` has the limits."""

import ast
import inspect
import tomllib
from functools import cache
from pathlib import Path

import pytest
import zarr_core

ROOT = Path(__file__).parents[2]
CORE = ROOT / "packages" / "zarr-core" / "src" / "zarr_core"
LIMITS = tomllib.loads((Path(__file__).parent / "sizes.toml").read_text())


def source_files(folder, suffix=".py"):
    """Files of a folder, without those in hidden and generated folders."""
    for file in sorted((ROOT / folder).rglob(f"*{suffix}")):
        parts = file.relative_to(ROOT / folder).parts
        if not any(part.startswith((".", "__pycache__")) or part == "build" for part in parts):
            yield file


def count_lines(folder, suffix=".py"):
    """The number of lines of any kind."""
    return sum(file.read_bytes().count(b"\n") for file in source_files(folder, suffix))


def public_names(cls):
    """Public members of a class, those of its bases included."""
    return [name for name in dir(cls) if not name.startswith("_")]


def called_name(node):
    """The name of the function that an expression or a decorator calls; empty if it calls none."""
    function = node.func if isinstance(node, ast.Call) else node
    return getattr(function, "attr", getattr(function, "id", ""))


def count_caches(source):
    """Caches of a module: memoized functions and values of the type Cache, outside functions."""
    module = ast.parse(source)
    methods = [node for outer in module.body for node in getattr(outer, "body", ())]
    found = 0
    for node in [*module.body, *methods]:
        if isinstance(node, ast.FunctionDef):
            found += any(called_name(d) in ("cache", "lru_cache") for d in node.decorator_list)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            found += called_name(node.value) == "Cache"
    return found


def count_fork_handlers(source):
    return sum(
        isinstance(node, ast.Call) and called_name(node) == "register_at_fork"
        for node in ast.walk(ast.parse(source))
    )


def flat(sections):
    """Figures or limits by their section and name."""
    return {
        f"{section}: {name}": number
        for section, numbers in sections.items()
        for name, number in numbers.items()
    }


ALLOWED = flat(LIMITS)


@cache
def measured():
    """All figures, by the names of ``sizes.toml``."""
    core = [file.read_text() for file in source_files(CORE)]
    methods = [n for n in public_names(zarr_core.Store) if callable(getattr(zarr_core.Store, n))]
    sections = {
        "lines": {
            "packages": count_lines("packages"),
            "javascript": count_lines("packages", ".js"),
            "tests": count_lines("tests"),
        },
        "distributions": {
            folder.name: count_lines(folder / "src")
            for folder in sorted((ROOT / "packages").iterdir())
            if (folder / "src").is_dir()
        },
        "core": {
            "files": len(core),
            "folders": len({file.parent for file in source_files(CORE)}),
            "caches": sum(map(count_caches, core)),
            "fork handlers": sum(map(count_fork_handlers, core)),
        },
        "members": {
            "Array": len(public_names(zarr_core.Array)),
            "Group": len(public_names(zarr_core.Group)),
            "Store methods": len(methods),
            "Store attributes": len(public_names(zarr_core.Store)) - len(methods),
        },
        "parameters": {
            "open": len(inspect.signature(zarr_core.open).parameters),
            "create_array": len(inspect.signature(zarr_core.create_array).parameters),
        },
        "documentation": {
            "pages": len([*(ROOT / "docs").glob("*.md")]),
            "decisions": len([*(ROOT / "docs" / "decisions").glob("0*.md")]),
        },
    }
    return flat(sections)


def test_every_size_has_a_limit():
    assert measured().keys() == ALLOWED.keys()


@pytest.mark.parametrize("name", ALLOWED)
def test_a_size_does_not_rise(name):
    assert 0 < measured()[name] <= ALLOWED[name], "remove as much as was added; see decision 0059"


@pytest.mark.parametrize("name", ALLOWED)
def test_a_limit_follows_what_was_removed(name):
    slack = max(1, ALLOWED[name] // 50)  # else what was removed could come back unnoticed
    assert ALLOWED[name] - measured()[name] <= slack, "lower the limit in sizes.toml"


def test_caches_and_fork_handlers_are_counted():
    source = """
import os
from functools import cache
_seen: Cache[int, int] = Cache(8)
_other = {}
@cache
def one(): ...
class Two:
    @functools.lru_cache(maxsize=2)
    def method(self):
        local = Cache(2)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one)
"""
    assert count_caches(source) == 3
    assert count_fork_handlers(source) == 1
