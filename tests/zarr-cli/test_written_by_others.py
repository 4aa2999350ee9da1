"""Commands on data that other libraries have written."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from zarr_cli.command_group import cli

FIXTURES = Path(__file__).parents[1] / "fixtures"
# Archives with this name contain arrays without a group.
WRITTEN = sorted(file for file in FIXTURES.rglob("*.zip") if file.stem != "arrays")
# Fixtures that are invalid, completely or in part.
REFUSED = {"refused", "refused_encoding", "refused_extension", "refused_major"}
# Data types without a form in version 3: objects, arrays in records, unknown types.
OLD_ONLY = {"data_types", "extensions", "objects", "pickles", "structures"}
QUERIES = [["tree", "--attrs"], ["ls", "-rs"], ["check"], ["info", "--stored"]]

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.parametrize("file", WRITTEN, ids=lambda file: f"{file.parent.name}-{file.stem}"),
]


def run(*words):
    done = CliRunner().invoke(cli, [*map(str, words)])
    assert "is unexpected" not in done.stderr, done.output
    return done


def test_queries(file):
    for words in QUERIES:
        done = run(*words, file)
        assert done.exit_code == 0 or file.stem in {*REFUSED, "extensions", "pickles"}, done.output
    done = run("diff", file, file)
    assert done.exit_code == (file.stem in {*REFUSED, "pickles"}), done.output


@pytest.mark.slow
def test_copy_rechunk_and_convert(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = {
        "copied.zarr": (["copy"], REFUSED),
        "rechunked.zarr": (
            ["rechunk", "-z", "gzip:1", "--verify"],
            {*REFUSED, "extensions", "pickles"},
        ),
        "three.zarr": (["convert", "--verify"], {*REFUSED, *OLD_ONLY}),
    }
    for location, (words, refused) in tried.items():
        done = run(words[0], file, location, *words[1:])
        if done.exit_code:
            assert file.stem in refused, done.output
            assert done.stderr.startswith("Error: ")
            continue
        found = run("diff", file, location, "--ignore-storage", "--json")
        differences = json.loads(found.stdout)["differences"] if found.stdout else []
        assert not [each for each in differences if each["what"] == "values"], found.output
