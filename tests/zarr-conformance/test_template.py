"""The templates of distributions for each extension_point of extension."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import zarr_core.registry.extension_points
from example_distributions import PIP
from zarr_conformance.__main__ import main
from zarr_conformance.template import EXTENSION_POINTS, new_distribution

# As an editable installation does it, in a directory of its own.
USE = "import site, sys; site.addsitedir(sys.argv[1])\n"
RUN = "import site, sys; site.addsitedir(sys.argv[1]); import pytest; sys.exit(pytest.main(sys.argv[2:]))"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    for extension_point in EXTENSION_POINTS:
        name = (
            f"tmpl-{extension_point}"
            if extension_point in ("store", "format")
            else f"tmpl.{extension_point.replace('-', '_')}"
        )
        assert main(["new", extension_point, name, "--into", str(folder)]) == 0
    return sorted(folder.iterdir())


@pytest.mark.slow
def test_tests_of_every_template_pass(distributions, tmp_path):
    # An executor is used for all arrays, so it is tested apart from the others.
    executors = [folder for folder in distributions if folder.name == "tmpl-native"]
    others = [folder for folder in distributions if folder not in executors]
    for folders, site in ((executors, tmp_path / "executor"), (others, tmp_path)):
        editable = [word for folder in folders for word in ("--editable", str(folder))]
        subprocess.run([*PIP, str(site), *editable], check=True)
        run = subprocess.run(
            [sys.executable, "-c", RUN, str(site), "-q", "-p", "no:cacheprovider", "-Werror"]
            + ["--import-mode=importlib", "--rootdir", str(folders[0].parent)]
            + [str(folder / "tests") for folder in folders],
            capture_output=True,
            text=True,
            cwd=site,
        )
        assert run.returncode == 0, run.stdout + run.stderr
    for folder in others:
        for example in re.findall(
            r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL
        ):
            (tmp_path / folder.name).mkdir()
            subprocess.run(
                [sys.executable, "-c", USE + example, str(tmp_path)],
                cwd=tmp_path / folder.name,
                check=True,
            )
    assert int(run.stdout.split(" passed")[0].split()[-1]) > 200


def test_templates_do_not_use_the_settings_of_pytest_around_them(distributions):
    """In a clone of this repository, pytest would use its settings, which need plugins of pytest."""
    for folder in distributions:
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        assert "ini_options" in project["tool"]["pytest"]


def test_templates_are_formatted(distributions):
    for folder in distributions:
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert project["name"] == folder.name
        assert (folder / "README.md").read_text().startswith(f"# {folder.name}\n")
        texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
        assert not any("@" in text.replace("@dataclass", "").replace("@property", "")
                       .replace("@classmethod", "").replace("@contextmanager", "")
                       .replace("@hookimpl", "").replace("@staticmethod", "")
                       .replace("@abstractmethod", "")
                       for text in texts)  # fmt: skip


@pytest.mark.slow
def test_templates_pass_strict_type_checks(distributions, tmp_path):
    mypy = pytest.importorskip("mypy.api")
    sources = [str(folder / "src") for folder in distributions]
    output, errors, status = mypy.run(
        ["--strict", "--cache-dir", str(tmp_path), "--config-file", "", *sources]
    )
    assert status == 0, output + errors


@pytest.mark.parametrize("name", ["", "Acme.x", "acme..x", "../x", "acme/x", "1x", "x.", "a b"])
def test_invalid_names(name, tmp_path, capsys):
    assert main(["new", "codec", name, "--into", str(tmp_path)]) == 2
    assert "is not a valid name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_existing_directories_are_not_overwritten(tmp_path, capsys):
    folder = new_distribution("codec", "acme.x", tmp_path)
    (folder / "README.md").write_text("mine")
    assert main(["new", "codec", "acme.x", "--into", str(tmp_path)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert (folder / "README.md").read_text() == "mine"


def test_every_extension_point_has_a_template():
    templates = {extension_point.replace("-", "_") for extension_point in EXTENSION_POINTS}
    # A bridge consists of hooks.
    assert templates - set(zarr_core.registry.extension_points.EXTENSION_POINTS) == {
        "bridge",
        "native_codec",
        "array_to_array_codec",
        "array_to_bytes_codec",
    }
    assert set(zarr_core.registry.extension_points.EXTENSION_POINTS) <= templates


def test_names_of_the_pages_of_requirements_are_accepted(tmp_path):
    pages = Path(__file__).parents[2] / "docs" / "requirements"
    for number, page in enumerate(set(pages.glob("*.md")) - {pages / "index.md"}):
        assert main(["new", page.stem, f"tmpl-{number}", "--into", str(tmp_path)]) == 0
        test = (tmp_path / f"tmpl-{number}" / "tests" / f"test_tmpl_{number}.py").read_text()
        assert re.search(r"import (\w+Tests)", test)[1] in page.read_text()


def test_unknown_extension_point(capsys):
    with pytest.raises(SystemExit):
        main(["new", "hook", "acme.x"])
    refusal = capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["new", "--help"])
    help_text = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    for extension_point in EXTENSION_POINTS:
        assert f"'{extension_point}'" in refusal
        assert extension_point in help_text


def test_extension_points_with_underscores(tmp_path):
    assert main(["new", "chunk_key_encoding", "acme.x", "--into", str(tmp_path)]) == 0
    project = tomllib.loads((tmp_path / "acme-x" / "pyproject.toml").read_text())["project"]
    assert list(project["entry-points"]) == ["zarr_core.chunk_key_encoding"]
