"""Names of nodes and extensions."""

from __future__ import annotations

import pytest
from zarr_core import names
from zarr_core.errors import NodeNameError
from zarr_core.formats.v3 import V3

GOOD = [
    "a",
    "A-1_b",
    ".hidden",
    "a.b",
    "a..b",
    "_x",
    "a__b",
    "c",
    "zarr.json.bak",
    "Ä日本",
    "a b",
    "x" * 300,
]
BAD = ["", "a/b", ".", "..", "...", "__", "__x", "__zarr", "zarr.json", "a\\b", "a\0b", "\ud800"]


@pytest.mark.parametrize("name", GOOD)
def test_names_that_the_specification_permits(name):
    assert names.is_node_name(name)
    V3().check_path(f"g/{name}")
    assert names.normalise_path(f"/g/{name}/") == f"g/{name}"


@pytest.mark.parametrize("name", BAD)
def test_names_that_are_rejected(name):
    assert not names.is_node_name(name)
    assert names.name_problem(name)


@pytest.mark.parametrize("name", [".", "..", "a\0b", "\ud800"])
@pytest.mark.parametrize("place", ["{}", "g/{}", "{}/g", "/g/{}/h/"])
def test_paths_that_no_format_can_have(name, place):
    assert not names.is_path_part(name)
    with pytest.raises(NodeNameError, match="must"):
        names.normalise_path(place.format(name))


@pytest.mark.parametrize("name", ["...", "__", "__x", "zarr.json"])
def test_other_formats_have_names_that_version_3_reserves(name):
    assert names.is_path_part(name)
    assert names.normalise_path(f"/g/{name}") == f"g/{name}"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ""),
        ("/", ""),
        ("a", "a"),
        ("/a", "a"),
        ("a/", "a"),
        ("/a/b.c/", "a/b.c"),
        ("a/b-c/d", "a/b-c/d"),
        ("//", ""),
        ("a//b", "a/b"),
        ("//a///", "a"),
        ("a\\b", "a/b"),
        ("\\a\\/b\\", "a/b"),
    ],
)
def test_paths_have_one_form(path, expected):
    assert names.normalise_path(path) == expected
    assert names.normalise_path(expected) == expected


@pytest.mark.parametrize("path", ["a/../b", "./a", "../a", "a\\..\\b", "a//.", "//.."])
def test_paths_that_could_mean_something_else_are_rejected(path):
    with pytest.raises(NodeNameError):
        names.normalise_path(path)


def test_a_long_ordinary_path_is_fast():
    # A careless pattern would need exponential time.
    assert names.normalise_path("a" * 5000 + ".") == "a" * 5000 + "."


@pytest.mark.parametrize("path", [None, 1, b"a", ["a"]])
def test_a_path_is_a_string(path):
    with pytest.raises(TypeError, match="a path must be a string"):
        names.normalise_path(path)


@pytest.mark.parametrize(
    ("parent", "path", "expected"),
    [("", "", ""), ("", "a", "a"), ("a", "", "a"), ("a/b", "/c/d/", "a/b/c/d")],
)
def test_paths_join(parent, path, expected):
    assert names.join(parent, path) == expected
