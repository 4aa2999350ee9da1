"""What programs use of zarr-python is here by the same name, or the page says where it is."""

import json
from pathlib import Path

import numpy as np
import pytest
import zarr_compat
import zarr_core

ROOT = Path(__file__).parents[2]
NAMES = json.loads((Path(__file__).parent / "names.json").read_text())
PAGE = ROOT / "docs" / "coming-from-zarr-python.md"

EACH = pytest.mark.parametrize(
    ("check", "instead", "traits"),
    [(check, instead, dict(*traits)) for _, check, instead, *traits in NAMES],
    ids=[name for name, *_ in NAMES],
)


def holds(check, zarr, path):
    group = zarr.open_group({}, mode="w")
    array = group.create_array("x", data=np.arange(24, dtype="i4").reshape(4, 6), chunks=(2, 3))
    array[0, 0] = 0
    group.create_group("g").create_array("y", shape=3)
    names = {"zarr": zarr, "np": np, "group": group, "array": array, "path": str(path)}
    return bool(eval(check, names))


@pytest.fixture
def alias(monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "zarr"]:
        monkeypatch.delitem(sys.modules, name)
    with zarr_compat.install_as_zarr() as zarr:
        yield zarr


@EACH
def test_it_is_in_the_core_unless_the_page_says_otherwise(check, instead, traits, tmp_path):
    try:
        found = holds(check, zarr_core, tmp_path)
    except (AttributeError, TypeError):
        if not instead:
            raise
        found = False
    assert found == (not instead)


@EACH
def test_it_is_in_the_alias(check, instead, traits, tmp_path, alias):
    if traits.get("alias", True):
        assert holds(check, alias, tmp_path)


def rows():
    for name, _, instead, *traits in NAMES:
        note = dict(*traits).get("note", "")
        yield f"| `{name}` | {instead or 'the same'}{'; ' + note if note else ''} |"


def test_the_page_has_these_rows():
    text = PAGE.read_text()
    begin = text.index("<!-- names: begin")
    table = text[begin : text.index("<!-- names: end")]
    assert [line for line in table.splitlines() if line.startswith("| `")] == [*rows()]
