"""Import circles, including imports for type checking."""

from pathlib import Path

import pytest

grimp = pytest.importorskip("grimp")  # a development tool, not installed for every Python

PACKAGES = Path(__file__).parents[2] / "packages"


def test_circles_have_at_most_two_modules():
    names = sorted(path.parent.name for path in PACKAGES.glob("*/src/*/__init__.py"))
    graph = grimp.build_graph(*names, exclude_type_checking_imports=False, cache_dir=None)
    too_large = set()
    for module in graph.modules:
        both = graph.find_upstream_modules(module) & graph.find_downstream_modules(module)
        circle = both | {module}
        if len(circle) > 2:
            too_large.add(tuple(sorted(circle)))
    assert not too_large
