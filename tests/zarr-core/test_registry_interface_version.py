"""Extensions for another version of the extension interface."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ExtensionLoadError
from zarr_core.extension import INTERFACE_VERSION
from zarr_core.registry import provider
from zarr_core.registry.resolve import find_class

NEWER = INTERFACE_VERSION + 1


@pytest.fixture
def two_plugins(install, codec_source):
    """A function that installs a codec with a declaration, and another one without."""

    def write(version, source=codec_source):
        install(
            "acme-other",
            {"codec": {"acme.other": "acme_other:Codec"}},
            {"acme_other.py": codec_source},
        )
        points = {"codec": {"acme.x": "acme:Codec"}, "interface_version": {f"{version}": "acme"}}
        install("acme-dist", points, {"acme.py": source}, version="2.0")

    return write


def test_the_current_version_may_be_declared(two_plugins):
    two_plugins(INTERFACE_VERSION)
    array = zarr.create_array(data=np.arange(4), compressors=zarr.codec("acme.x", key=3))
    assert array[:].tolist() == [0, 1, 2, 3]


def test_a_newer_distribution_is_rejected_and_others_are_not_affected(two_plugins):
    two_plugins(NEWER)
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
    two_plugins(NEWER, "raise SystemExit('imported')")
    with pytest.raises(ExtensionLoadError, match=f"requires version {NEWER} .* Upgrade zarr-core;"):
        find_class("codec", "acme.x")
    assert find_class("codec", "acme.other").__name__ == "Codec"


def test_a_version_that_is_no_longer_supported_is_rejected(two_plugins, monkeypatch):
    two_plugins(1)
    monkeypatch.setattr(provider, "OLDEST_INTERFACE_VERSION", 2)
    monkeypatch.setattr(provider, "INTERFACE_VERSION", 3)
    with pytest.raises(
        ExtensionLoadError, match=r"requires version 1 .* versions 2 to 3\. Upgrade acme-dist;"
    ):
        find_class("codec", "acme.x")


def test_the_number_of_a_distribution_is_checked(two_plugins):
    two_plugins("two")
    with pytest.raises(
        ExtensionLoadError, match="must be an integer, not 'two'.* Repair acme-dist"
    ):
        find_class("codec", "acme.x")
