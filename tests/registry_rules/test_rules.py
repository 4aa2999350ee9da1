"""Every row of the tables for unknown, broken, ambiguous and misconfigured names."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from plugins import NAME, URI
from situations import (
    CASES,
    DATA,
    case_called,
    distributions,
    imported,
    one_line,
    outcome_of,
    stored_in_draft,
    stored_in_v3,
    use,
)
from zarr_core.registry.extension_points import EXTENSION_POINTS

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def rows(name):
    lines = (HERE / name).read_text().splitlines()
    return [
        [cell.strip() for cell in line.split("|")]
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def each(name, cells):
    return pytest.mark.parametrize(
        cells, rows(name), ids=[" ".join(row[:-1]).replace(", ", "-") for row in rows(name)]
    )


def test_table_has_all_extension_points_and_cases():
    rules = rows("rules.txt")
    assert {rule[1] for rule in rules} == set(EXTENSION_POINTS)
    assert {rule[2] for rule in rules} == {name for name, _ in rows("cases.txt")}
    assert len({tuple(rule[:3]) for rule in rules}) == len(rules)
    assert {rule[2].removesuffix(", optional") for rule in rules} == set(CASES)


# The imported distribution, if it is not the first.
USED = {"two, one switched off": "1", "given": "", "core": ""}


@each("rules.txt", "zarr_format, kind, name, expected, said")
def test_a_rule(zarr_format, kind, name, expected, said, install):
    case, _ = case_called(name)
    for arguments in distributions(zarr_format, kind, case):
        install(*arguments)
    outcome, message, _ = use(zarr_format, kind, name)
    assert outcome == expected, message
    assert said in message
    if outcome == "works":
        assert imported() == ("01" if name == "two" else USED.get(name, "0"))
    elif not said:
        assert not message
    # The failure affects this name only, or every array.
    if kind not in ("hooks", "native"):
        array = zarr.create_array(data=DATA, chunks=2, compressors="gzip")
        assert array[...].tolist() == DATA.tolist()


@each("fallbacks.txt", "case, names, policy, expected, said")
def test_a_fallback(case, names, policy, expected, said, install):
    for arguments in distributions("draft", "data_type", CASES[case]):
        install(*arguments)
    broken = f"{URI}/broken"
    install("broken", {"data_type": {broken: "broken:Extension"}}, {"broken.py": "1 / 0"})
    known = {
        "unheard": {"extension": f"{URI}/unheard", "type": "x"},
        "broken": {"extension": broken, "type": "x"},
    }
    fallbacks = [known.get(item, item) for item in names.split(", ") if item != "-"]
    store = stored_in_draft("data_type", {"key": CASES[case].key, "fallback": fallbacks})
    outcome, message, array = outcome_of(
        lambda: zarr.open(store, path="a", mode="r+"), {"fallback": policy}
    )
    if expected.startswith("read as"):
        assert outcome == "left out"
        assert expected == f"read as {'r32' if array.dtype.kind == 'V' else array.dtype}"
        assert [item.name for item in array.ignored_extensions] == [URI]
        assert f"read-only: unknown {URI}" in repr(array)
        assert f"{URI} (ignored)" in str(array.info)
    else:
        assert outcome == expected, message
    assert said in message
    assert bool(message) == bool(said)


# --- remaining functions of the array ---

OPERATIONS = {
    "read": lambda array: array[...],
    "write": lambda array: array.__setitem__(0, 1),
    "change an attribute": lambda array: array.attrs.__setitem__("title", "x"),
    "resize": lambda array: array.resize((9,)),
    "append": lambda array: array.append(np.arange(3, dtype="int32")),
    "consolidate the group": lambda array: zarr.consolidate_metadata(array.store),
    "open in mode `r+`": lambda array: zarr.open(array.store, path="a", mode="r+"),
}
FLAGGED = {"configuration": {"key": 1}, "must_understand": False}


def _array(state, install):
    kind = "extension" if state == "ignored" else "codec"
    if state == "known":
        for arguments in distributions("v3", kind, CASES["installed"]):
            install(*arguments)
    store = zarr.MemoryStore()
    zarr.create_group(store)
    return stored_in_v3(kind, {"name": NAME, **FLAGGED}, store)


def _opened(store):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        array = zarr.open(store, path="a", mode="r+")
    return array, "yes" if said else "no"


def _flags(text):
    document = json.loads(text)
    found = [item for item in document["codecs"] if item["name"] == NAME]
    found += [document[NAME]] if NAME in document else []
    return [{key: value for key, value in item.items() if key != "name"} for item in found]


@pytest.mark.parametrize("state", ["left out", "ignored", "known"])
@pytest.mark.parametrize("line", rows("left_out.txt"), ids=lambda line: line[0])
def test_array_remains_usable(line, state, install):
    operation, expected = line[0], line[1 + ["left out", "ignored", "known"].index(state)]
    store = _array(state, install)
    array, said = _opened(store)
    again, said_again = _opened(store)
    kept = [{"key": 1, "must_understand": False}] if state == "ignored" else [FLAGGED]
    if operation in OPERATIONS:
        outcome, why = "works", NAME
        try:
            OPERATIONS[operation](array)
        except zarr.errors.ZarrError as error:
            outcome, why = type(error).__name__, one_line(error)
        assert NAME in why
    else:
        outcome = {
            "`repr` says read-only": "yes" if f"read-only: unknown {NAME}" in repr(array) else "no",
            "`info` says read-only": "yes" if f"{NAME} (ignored)" in str(array.info) else "no",
            "`ignored_extensions` names it": "yes" if array.ignored_extensions else "no",
            "warning on first opening": said,
            "warning on second opening": said_again,
            "the metadata keeps the flag": "yes",
        }[operation]
    assert outcome == expected
    assert _flags(store.get("a/zarr.json")) == kept
    assert array.read_only == again.read_only == (state == "left out")
    if operation == "consolidate the group":
        inline = json.loads(store.get("zarr.json"))["consolidated_metadata"]["metadata"]["a"]
        assert _flags(json.dumps(inline)) == kept


@pytest.mark.parametrize("spelling", ["bytes", {"name": "bytes"}])
def test_spellings_survive_rewriting(spelling, install):
    for arguments in distributions("v3", "codec", CASES["installed"]):
        install(*arguments)
    store = stored_in_v3("codec", {"name": NAME, **FLAGGED})
    document = json.loads(store.get("a/zarr.json"))
    document |= {"data_type": "uint8", "shape": [3], "chunk_key_encoding": "v2"}
    document["codecs"] = [spelling, NAME, {"name": NAME, **FLAGGED}]
    store.set("a/zarr.json", json.dumps(document).encode())
    array = zarr.open(store, path="a", mode="r+")
    array.attrs["x"] = 1
    array.resize((5,))
    array[...] = 7
    assert json.loads(store.get("a/zarr.json")) == document | {
        "attributes": {"x": 1},
        "shape": [5],
    }


def test_the_page_is_what_the_tables_say():
    run = subprocess.run(
        [sys.executable, "scripts/document_rules.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
