"""The check of the files of a release."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_release.py"
problems = runpy.run_path(str(SCRIPT))["problems"]


@pytest.fixture
def root(tmp_path):
    for name in ("zarr-core", "zarr-codecs"):
        project = tmp_path / "packages" / name / "pyproject.toml"
        project.parent.mkdir(parents=True)
        project.write_text(f'[project]\nname = "{name}"\nversion = "0.3.1"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## [0.3.1] - 2027-02-01\n")
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 0.3.1\n")
    golden = tmp_path / "tests/fixtures/golden/zarr-core-0.3"
    golden.mkdir(parents=True)
    (golden / "v3.zip").write_bytes(b"")
    return tmp_path


def test_a_complete_release_has_no_problems(root):
    assert problems(root, "v0.3.1") == []


def change(path, old, new):
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("packages/zarr-codecs/pyproject.toml", "0.3.1", "0.3.0", "version is 0.3.0, not 0.3.1"),
        ("CHANGELOG.md", "2027-02-01", "soon", "has no heading"),
        ("CITATION.cff", "0.3.1", "0.3.0", "version is not 0.3.1"),
    ],
)
def test_a_difference_is_reported(root, file, old, new, message):
    change(root / file, old, new)
    (problem,) = problems(root)
    assert problem.startswith(f"{file}: {message}")


def test_a_wrong_tag_is_reported(root):
    assert problems(root, "v0.3.2") == ["the tag is v0.3.2, not v0.3.1"]


def test_missing_golden_stores_are_reported(root):
    (root / "tests/fixtures/golden/zarr-core-0.3/v3.zip").unlink()
    (problem,) = problems(root)
    assert "contains no stores" in problem
