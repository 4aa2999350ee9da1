"""Names of zarr-python exist here, or the documentation lists their replacement."""

import json
import os
import pickle
from collections import UserDict
from pathlib import Path

import numpy as np
import pytest
import zarr_core

numcodecs = pytest.importorskip("numcodecs")

ROOT = Path(__file__).parents[2]
TABLES = json.loads((Path(__file__).parent / "names.json").read_text())
NAMES, CONVENTIONS = TABLES["names"], TABLES["conventions"]
PAGE = ROOT / "docs" / "coming-from-zarr-python.md"


def refuses(call):
    try:
        call()
    except Exception:
        return True
    return False


def storage_ratio(array):
    return float(array.info_complete()["Storage ratio"])


def holds(check, zarr, path):
    group = zarr.open_group({}, mode="w")
    array = group.create_array("x", data=np.arange(24, dtype="i4").reshape(4, 6), chunks=(2, 3))
    group.create_group("g").create_array("y", shape=3)
    try:
        import obstore
        import obstore.store
    except ImportError:
        obstore = None
    names = {"zarr": zarr, "group": group, "array": array, "path": str(path), "obstore": obstore}
    tools = {"np": np, "os": os, "pickle": pickle, "numcodecs": numcodecs, "Mapping": UserDict}
    functions = {"refuses": refuses, "storage_ratio": storage_ratio}
    return bool(eval(check, names | tools | functions))


EACH_NAME = pytest.mark.parametrize(
    ("check", "instead", "traits"),
    [(check, instead, dict(*traits)) for _, check, instead, *traits in NAMES],
    ids=[name for name, *_ in NAMES],
)
EACH_CONVENTION = pytest.mark.parametrize(
    "check", [check for _, check, *_ in CONVENTIONS], ids=[what for what, *_ in CONVENTIONS]
)


@EACH_NAME
def test_name_is_in_the_core_unless_documented(check, instead, traits, tmp_path):
    try:
        found = holds(check, zarr_core, tmp_path)
    except (AttributeError, TypeError):
        if not instead:
            raise
        found = False
    assert found == (not instead)


@EACH_NAME
def test_name_is_in_the_alias(check, instead, traits, tmp_path, alias):
    if traits.get("alias", True):
        assert holds(check, alias, tmp_path)


@EACH_CONVENTION
def test_documented_behaviour(check, tmp_path):
    assert holds(check, zarr_core, tmp_path)


@EACH_CONVENTION
def test_documented_behaviour_in_the_alias(check, tmp_path, alias):
    assert holds(check, alias, tmp_path)


def rows(table):
    if table == "names":
        for name, _, instead, *traits in NAMES:
            note = dict(*traits).get("note", "")
            yield f"| `{name}` | {instead or 'the same'}{'; ' + note if note else ''} |"
    else:
        for what, _, theirs, ours in CONVENTIONS:
            yield f"| {what} | {theirs} | {ours} |"


@pytest.mark.parametrize("table", TABLES)
def test_documentation_has_these_rows(table):
    text = PAGE.read_text()
    shown = text[text.index(f"<!-- {table}: begin") : text.index(f"<!-- {table}: end")]
    assert [line for line in shown.splitlines() if line.startswith("| ")][1:] == [*rows(table)]
