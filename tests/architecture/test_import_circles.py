"""Circles of modules that import each other, including imports for typing alone."""

from pathlib import Path

import grimp

PACKAGES = Path(__file__).parents[2] / "packages"

LIMITS = {"zarr_compat": 5}
"""The number of modules in the largest circle of a package; 2 for all others.

Limits to lower whenever a circle becomes smaller, not to raise.
"""


def test_no_circle_is_larger_than_the_limit_of_its_package():
    names = sorted(path.parent.name for path in PACKAGES.glob("*/src/*/__init__.py"))
    graph = grimp.build_graph(*names, exclude_type_checking_imports=False, cache_dir=None)
    too_large = set()
    for module in graph.modules:
        both = graph.find_upstream_modules(module) & graph.find_downstream_modules(module)
        circle = both | {module}
        if len(circle) > LIMITS.get(module.partition(".")[0], 2):
            too_large.add(tuple(sorted(circle)))
    assert not too_large
