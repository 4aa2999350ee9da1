import tomllib
from pathlib import Path

import pytest
from zarr_core.config import config
from zarr_core.registry import hints
from zarr_core.registry.hints import install_hint

PACKAGES = Path(__file__).parents[2] / "packages"


@pytest.mark.parametrize(
    ("kind", "name", "distribution"),
    [
        ("codec", "pcodec", "zarr-codecs"),
        ("codec", "numcodecs.zlib", "zarr-codecs"),
        ("data_type", "numpy.datetime64", "zarr-dtypes"),
        ("data_type", "float8_e4m3", "zarr-dtypes"),
        ("chunk_grid", "rectilinear", "zarr-grids"),
        ("storage_transformer", "sharding", "zarr-sharding"),
        ("store", "s3", "zarr-stores"),
        ("format", "v2", "zarr-formats"),
    ],
)
def test_well_known_names_say_what_to_install(kind, name, distribution):
    with config.set(disabled_plugins={"*"}):
        assert f"pip install --upgrade {distribution}" in install_hint(kind, name)


def test_codecs_of_numcodecs_may_be_anybodys():
    with config.set(disabled_plugins={"*"}):
        assert "numcodecs.codecs" in install_hint("codec", "numcodecs.far")
        assert "numcodecs.codecs" not in install_hint("codec", "gzip")


def test_other_names_say_how_they_would_be_found():
    hint = install_hint("codec", "acme.x")
    assert "entry-point group zarr_core.codec" in hint
    assert "zarr_core.extensions({'codec': {'acme.x': ...}})" in hint


def test_what_is_left_out_on_purpose_says_why():
    hint = install_hint("codec", "numcodecs.pickle")
    assert "runs any code that their writer chose" in hint
    assert "zarr_core.extensions({'codec': {'numcodecs.pickle': PickleCodec}})" in hint
    assert "pip install" not in hint


def test_what_is_switched_off_is_said():
    with config.set(disabled_plugins={"zarr-codecs"}):
        assert "which the setting disabled_plugins switches off" in install_hint("codec", "gzip")
        assert "do not switch it off" in install_hint("codec", "pcodec")
    with config.set(disabled_plugins={"*"}):
        assert "do not switch it off" in install_hint("codec", "gzip")


def test_the_table_knows_everything_that_our_distributions_provide():
    for pyproject in PACKAGES.glob("*/pyproject.toml"):
        project = tomllib.loads(pyproject.read_text())["project"]
        if project["name"] == "zarr-core":
            continue
        for group, names in project.get("entry-points", {}).items():
            library, _, kind = group.partition(".")
            if library != "zarr_core":
                continue
            kind = kind.partition(".")[0]  # alternatives too
            for name in names:
                with config.set(disabled_plugins={"*"}):
                    assert project["name"] in hints.install_hint(kind, name), (kind, name)
