"""The wheel beside that of the codecs: installing it changes nothing, a setting does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]

PROGRAM = """
import sys
import zarr_core as zarr
for line in zarr.installed_extensions(load=False):
    if line.name == "gzip" and line.kind == "codec":
        print(line.choice, "used" if line.wins else line.note)
array = zarr.create_array(data=[1, 2, 3], compressors="gzip")
print(array[:].tolist(), type(array.compressors[0]).__module__)
print(*sorted({"isal", "deflate", "fastcrc"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with nothing but this distribution, installed from its wheel."""
    folder = tmp_path_factory.mktemp("fast")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*PIP, *build, str(PACKAGES / "zarr-fast")], check=True)
    (file,) = folder.glob("*.whl")
    options = ["--no-deps", "--no-index", "--target", str(folder / "site")]
    subprocess.run([*PIP, "install", *options, str(file)], check=True)
    return folder / "site"


def run(program, site, check=True, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(site), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) != check, done.stderr
    return done.stdout.splitlines() if check else done.stderr


def test_installing_it_changes_nothing(site):
    *said, imported = run(PROGRAM, site)
    assert said == [
        "zarr-codecs used",
        "zarr-fast[deflate] alternative",
        "zarr-fast[isal] alternative",
        "[1, 2, 3] zarr_codecs.gzip",
    ]
    assert imported in ("", "deflate")  # the latter by zarr-codecs[fast]


def test_the_environment_chooses(site):
    said = run(PROGRAM, site, ZARR_CORE_PROVIDERS="codec.gzip=zarr-fast[isal]")
    assert said == [
        "zarr-codecs not used",
        "zarr-fast[deflate] alternative",
        "zarr-fast[isal] used",
        "[1, 2, 3] zarr_fast.isal",
        "isal",
    ]


def test_a_library_that_is_missing_is_an_error_that_helps(site):
    program = "import sys; sys.modules['isal'] = None\n" + PROGRAM
    said = run(program, site, check=False, ZARR_CORE_PROVIDERS="codec.gzip=zarr-fast[isal]")
    assert "pip install 'zarr-fast[isal]'" in said.splitlines()[-1]


def test_a_second_distribution_of_the_plain_name_stays_a_conflict(site, tmp_path):
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[zarr_core.codec]\ngzip = zarr_fast.isal:GzipCodec\n")
    said = run(PROGRAM, f"{site}{os.pathsep}{tmp_path}", check=False)
    assert "ExtensionConflictError: 2 distributions provide the codec 'gzip'" in said
