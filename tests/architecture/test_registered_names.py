"""Names of extensions in metadata: registered, of a family, or documented as our own.

A name of the public registry must not have another meaning here. ``registered_extensions.json``
lists the registry at one commit.
"""

import json
import tomllib
from pathlib import Path

from zarr_conformance.clauses.clause import specifications

ROOT = Path(__file__).parents[2]
REGISTRY = json.loads((Path(__file__).with_name("registered_extensions.json")).read_text("utf-8"))
POINTS = tuple(REGISTRY["names"])

FAMILIES = ("numcodecs.", "n5.", "v2.")
"""Prefixes of names that follow another library, or only stand for data of an older format."""

OWN = {
    ("chunk_key_encoding", "fanout"): "splits coordinates into groups of digits",
    ("chunk_key_encoding", "n5"): "stands for the chunk keys of N5",
    ("chunk_key_encoding", "suffix"): "as in TensorStore and zarrs",
    ("chunk_key_encoding", "template"): "as a pattern",
    ("chunk_key_encoding", "v3_draft"): "stands for the chunk keys of the draft",
    ("data_type", "float8_e4m3fn"): "the name in ml_dtypes",
    ("data_type", "null_terminated_bytes"): "as in zarr-python",
    ("data_type", "raw_bytes"): "as in zarr-python",
    ("data_type", "variable_length_bytes"): "as in zarr-python",
    ("storage_transformer", "sharding"): "of the draft",
}
"""Names that are not registered, and what they mean."""


def provided():
    for file in ROOT.glob("packages/*/pyproject.toml"):
        groups = tomllib.loads(file.read_text("utf-8"))["project"].get("entry-points", {})
        for group, entries in groups.items():
            point = group.removeprefix("zarr_core.").partition(".")[0]
            if group.startswith("zarr_core.") and point in POINTS:
                yield from ((point, name) for name in entries)


def test_names_are_registered_or_listed():
    unknown = {
        (point, name)
        for point, name in provided()
        if name not in REGISTRY["names"][point] and not name.startswith(FAMILIES)
    }
    assert unknown == OWN.keys()


def test_own_names_have_no_meaning_in_the_registry():
    """A name that is registered later must get the registered meaning, or another name."""
    assert [name for point, name in OWN if name in REGISTRY["names"][point]] == []
    registered = {name for names in REGISTRY["names"].values() for name in names}
    assert not any(name.startswith(("n5.", "v2.")) for name in registered)


def test_every_registered_name_is_provided_or_known():
    """The registry at the commit with which the clauses were compared."""
    commits = {it.commit for it in specifications().values() if it.name.startswith("ext-")}
    assert commits == {REGISTRY["commit"]}
    ours = set(provided())
    missing = {(point, name) for point, names in REGISTRY["names"].items() for name in names} - ours
    assert missing == {("data_type", "r")}  # a family: r8, r16
