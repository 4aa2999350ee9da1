import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import zarr_core as zarr
from zarr_compat import foreign_extensions
from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.registry import discovery, hints
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
        ("store", "zip", "zarr-stores"),
        ("store", "s3", "'zarr-stores[object]'"),
        ("store", "redis", "'zarr-stores[redis]'"),
        ("format", "v2", "zarr-formats"),
    ],
)
def test_well_known_names_say_what_to_install(kind, name, distribution):
    with config.set(disabled_plugins={"*"}):
        assert f"pip install --upgrade {distribution}" in install_hint(kind, name)


def test_names_without_their_prefix_get_the_full_name():
    with pytest.raises(UnknownExtensionError) as caught:
        zarr.create_array(shape=3, compressors="zlib")
    assert "similar names: 'numcodecs.zlib'. Use the full name 'numcodecs.zlib'." in str(
        caught.value
    )
    assert "pip install" not in str(caught.value)


DISABLE_OURS, DISABLE_ALL = {"disabled_plugins": {"zarr-codecs"}}, {"disabled_plugins": {"*"}}


@pytest.mark.parametrize(
    ("settings", "name", "said", "not_said"),
    [
        (DISABLE_ALL, "numcodecs.far", "numcodecs.codecs", "override_extensions"),
        (DISABLE_ALL, "gzip", "do not disable it", "numcodecs.codecs"),
        ({}, "acme.x", "entry-point group zarr_core.codec", "disables all plugins"),
        ({}, "acme.x", "zarr_core.override_extensions({'codec': {'acme.x': ...}})", "pip"),
        (DISABLE_ALL, "acme.x", "The setting disabled_plugins disables all plugins", "pip"),
        ({}, "numcodecs.pickle", "can execute arbitrary code", "pip install"),
        ({}, "numcodecs.pickle", "({'codec': {'numcodecs.pickle': PickleCodec}})", "pip install"),
        (DISABLE_OURS, "gzip", "which the setting disabled_plugins disables", "pip install"),
        (DISABLE_OURS, "squeeze", "do not disable it", "numcodecs.codecs"),
    ],
)
def test_the_hint_for_a_codec(settings, name, said, not_said):
    with config.set(settings):
        hint = install_hint("codec", name)
    assert said in hint
    assert not_said not in hint


def test_the_table_is_what_our_distributions_declare():
    run = subprocess.run(
        [sys.executable, "scripts/list_extensions.py", "--check"],
        cwd=PACKAGES.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_the_extras_of_stores_exist_and_belong_to_stores_that_exist():
    pyproject = tomllib.loads((PACKAGES / "zarr-stores" / "pyproject.toml").read_text())
    extras = pyproject["project"]["optional-dependencies"]
    stores = pyproject["project"]["entry-points"]["zarr_core.store"]
    for extra, names in hints.EXTRAS["zarr-stores"].items():
        assert extra in extras
        assert set(names.split()) <= set(stores)
    # Stores of one class need the same libraries, except that some have an extra of their own.
    for target in {target: None for target in stores.values() if "references" not in target}:
        of_one = [name for name in stores if stores[name] == target and name not in extras]
        assert len({hints.requirement("store", name) for name in of_one}) <= 1


@pytest.mark.parametrize("version", [4, "v4", "nonsense"])
def test_the_formats_that_exist_are_listed(version):
    with pytest.raises(
        UnknownExtensionError, match=r"zarr_format must be one of .*\b3\b"
    ) as caught:
        zarr.create_array({}, shape=3, zarr_format=version)
    assert "'n5'" in str(caught.value)
    with (
        config.set(disabled_plugins={"*"}),
        pytest.raises(UnknownExtensionError, match=r"zarr_format must be one of 3\."),
    ):
        zarr.open({}, zarr_format=version)


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("codec", "imagecodecs_jpegxl", "imagecodecs-zarr zarr-bridge"),
        ("codec", "omfiles.pfor", "omfiles zarr-bridge"),
        ("data_type", "ndarray", "zarr-vlen-ndarray zarr-bridge"),
        ("codec", "numcodecs.flac", "flac_numcodecs"),
    ],
)
def test_published_packages_are_named(monkeypatch, kind, name, command):
    monkeypatch.setattr(foreign_extensions, "installed_entry_points", lambda prefix: ())
    with config.set(disabled_plugins={"*"}):
        hint = install_hint(kind, name)
    assert f"A package with it has been published: pip install {command}" in hint


@pytest.mark.parametrize(
    ("group", "line", "kind", "name"),
    [
        ("zarr.codecs", "far.squash = far:Squash", "codec", "far.squash"),
        ("zarr.codecs", "astype = far:A", "codec", "astype"),  # there is numcodecs.astype
        ("zarr.codecs.far.press", "one = far:Press", "codec", "far.press"),
        ("zarr.data_type", "far.angle = far:Angle", "data_type", "far.angle"),
        ("zarr.chunk_key_encoding", "far.key = far:Key", "chunk_key_encoding", "far.key"),
    ],
)
def test_extensions_for_zarr_python_need_the_bridge(tmp_path, monkeypatch, group, line, kind, name):
    info = tmp_path / "far_plugin-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: far-plugin\nVersion: 3.1\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{line}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    discovery.refresh()
    with config.set(disabled_plugins={"zarr-bridge"}):
        hint = install_hint(kind, name)
    assert hint == (
        "far-plugin 3.1 provides it for zarr-python; to use it: pip install zarr-bridge"
    )
