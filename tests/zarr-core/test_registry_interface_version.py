"""Extensions for another version of the extension interface."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ExtensionLoadError
from zarr_core.extension import INTERFACE_VERSION
from zarr_core.registry import extension_points
from zarr_core.registry.resolve import find_class

NEWER = INTERFACE_VERSION + 1


def planted(source, version):
    """The source of a codec whose class declares a version."""
    return source.replace("    key: int", f"    interface_version = {version!r}\n    key: int", 1)


@pytest.fixture
def two_plugins(install, codec_source):
    """A function that installs a codec with a declaration, and another one without."""

    def write(files, entry_points=None):
        install(
            "acme-other",
            {"codec": {"acme.other": "acme_other:Codec"}},
            {"acme_other.py": codec_source},
        )
        points = {"codec": {"acme.x": "acme:Codec"}, **(entry_points or {})}
        install("acme-dist", points, {"acme.py": files}, version="2.0")

    return write


def test_the_current_version_may_be_declared(two_plugins, codec_source):
    two_plugins(
        planted(codec_source, INTERFACE_VERSION),
        {"interface_version": {f"{INTERFACE_VERSION}": "acme"}},
    )
    array = zarr.create_array(data=np.arange(4), compressors=zarr.codec("acme.x", key=3))
    assert array[:].tolist() == [0, 1, 2, 3]
    assert "key" in array.metadata.codecs[1].configuration
    assert "interface_version" not in array.metadata.codecs[1].configuration


def test_a_newer_class_is_rejected_and_others_are_not_affected(two_plugins, codec_source):
    two_plugins(planted(codec_source, NEWER))
    with pytest.raises(ExtensionLoadError) as caught:
        zarr.codec("acme.x")
    assert str(caught.value) == (
        "the codec 'acme.x' is provided by acme-dist 2.0 as acme:Codec, which failed to load: "
        f"it requires version {NEWER} of the extension interface, but the installed zarr-core "
        f"supports versions 1 to {INTERFACE_VERSION}. "
        "Upgrade zarr-core; other extensions are not affected."
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert find_class("codec", "acme.other").__name__ == "Codec"
    broken = {
        line.name: line.error
        for line in zarr.installed_extensions(
            extension_point="codec", names=["acme.x", "acme.other"]
        )
    }
    assert "requires version" in broken["acme.x"]
    assert broken["acme.other"] is None


def test_a_newer_distribution_is_rejected_without_importing_it(two_plugins):
    two_plugins("raise SystemExit('imported')", {"interface_version": {f"{NEWER}": "acme"}})
    with pytest.raises(ExtensionLoadError, match=f"requires version {NEWER} .* Upgrade zarr-core;"):
        find_class("codec", "acme.x")
    assert find_class("codec", "acme.other").__name__ == "Codec"


def test_a_version_that_is_no_longer_supported_is_rejected(two_plugins, codec_source, monkeypatch):
    two_plugins(planted(codec_source, 1))
    monkeypatch.setattr(extension_points, "OLDEST_INTERFACE_VERSION", 2)
    monkeypatch.setattr(extension_points, "INTERFACE_VERSION", 3)
    with pytest.raises(
        ExtensionLoadError, match=r"requires version 1 .* versions 2 to 3\. Upgrade acme-dist;"
    ):
        find_class("codec", "acme.x")


@pytest.mark.parametrize("version", ["1", True, None])
def test_a_version_is_an_integer(two_plugins, codec_source, version):
    two_plugins(planted(codec_source, version))
    with pytest.raises(ExtensionLoadError, match="interface_version must be an integer, not "):
        find_class("codec", "acme.x")


def test_the_number_of_a_distribution_is_checked(two_plugins, codec_source):
    two_plugins(codec_source, {"interface_version": {"two": "acme"}})
    with pytest.raises(
        ExtensionLoadError, match="must be an integer, not 'two'.* Repair acme-dist"
    ):
        find_class("codec", "acme.x")


def test_an_override_is_checked(codec_source):
    namespace = {"__name__": __name__}
    exec(planted(codec_source, NEWER), namespace)
    with (
        pytest.raises(TypeError, match=f"requires version {NEWER} of the extension interface"),
        zarr.override_extensions({"codec": {"acme.x": namespace["Codec"]}}),
    ):
        pass
