"""Queries on data that other libraries have written."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from zarr_cli.command_group import cli

FIXTURES = Path(__file__).parents[1] / "fixtures"
# Archives with this name contain arrays without a group.
WRITTEN = sorted(file for file in FIXTURES.rglob("*.zip") if file.stem != "arrays")
# Fixtures that are invalid, completely or in part.
REFUSED = {
    "extensions",
    "refused",
    "refused_encoding",
    "refused_extension",
    "refused_major",
    "pickles",
}


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_queries(file):
    for words in (
        ["tree", "--attrs"],
        ["ls", "-rs"],
        ["check"],
        ["info", "--stored"],
    ):
        done = CliRunner().invoke(cli, [*words, str(file)])
        assert "is unexpected" not in done.stderr
        assert done.exit_code == 0 or file.stem in REFUSED, done.output
    done = CliRunner().invoke(cli, ["diff", str(file), str(file)])
    assert done.exit_code == (file.stem in REFUSED - {"extensions"}), done.output
