"""Everything that other libraries have written is copied, written anew, converted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from zarr_cli.main import cli

FIXTURES = Path(__file__).parents[1] / "fixtures"
# In archives of that name arrays stand side by side, without a group.
WRITTEN = sorted(file for file in FIXTURES.rglob("*.zip") if file.stem != "arrays")
# What cannot be read, whole or in part, is in nobody's copies.
REFUSED = {"refused", "refused_encoding", "refused_extension", "refused_major"}
# What version 3 has no data type for: objects, arrays in records, and what nobody knows.
OLD_ONLY = {"data_types", "extensions", "objects", "pickles", "structures"}


def run(*words):
    done = CliRunner().invoke(cli, [*map(str, words)])
    assert "not expected" not in done.stderr, done.output
    return done


@pytest.mark.slow
@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_of_it(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = {
        "copied.zarr": (["copy"], REFUSED),
        "anew.zarr": (["rechunk", "-z", "gzip:1", "--verify"], {*REFUSED, "extensions", "pickles"}),
        "three.zarr": (["convert", "--verify"], {*REFUSED, *OLD_ONLY}),
    }
    for place, (words, refused) in tried.items():
        done = run(words[0], file, place, *words[1:])
        if done.exit_code:
            assert file.stem in refused, done.output
            assert done.stderr.startswith("Error: ")
            continue
        found = run("diff", file, place, "--ignore-storage", "--json")
        differences = json.loads(found.stdout)["differences"] if found.stdout else []
        assert not [each for each in differences if each["what"] == "values"], found.output
