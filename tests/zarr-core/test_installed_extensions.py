import sys

import pytest
from zarr_core import installed_extensions
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.config import config
from zarr_core.registry.discovery import usable_names
from zarr_core.registry.overrides import override_extensions

HOOKS = """
from zarr_core.extension import hookimpl

@hookimpl
def zarr_check_metadata():
    pass
"""


@pytest.fixture
def several(install, codec_source):
    install("acme-one", {"codec": {"x": "one:Codec"}}, {"one.py": codec_source}, version="1.5")
    install("acme-two", {"codec": {"x": "two:Codec", "bytes": "two:Codec"}}, {"two.py": "1 / 0"})
    install("acme-hooks", {"hooks": {"acme": "acme_hooks"}}, {"acme_hooks.py": HOOKS})


def lines(kind, name, **options):
    return {
        line.distribution: line
        for line in installed_extensions(extension_point=kind, **options)
        if line.name == name
    }


def test_everything_is_listed_without_importing_it(several):
    assert {line.extension_point for line in installed_extensions(load=False)} >= {"codec", "hooks"}
    found = lines("codec", "x", load=False)
    assert found["acme-one"].loads is None
    assert found["acme-one"].version == "1.5"
    assert found["acme-two"].target == "two:Codec"
    assert not {"one", "two"} & set(sys.modules)


def test_whether_it_loads(several):
    found = lines("codec", "x")
    assert (found["acme-one"].loads, found["acme-one"].error) == (True, None)
    assert found["acme-two"].loads is False
    assert "ZeroDivisionError" in found["acme-two"].error


def test_some_are_listed_and_no_others_imported(several):
    found = installed_extensions(extension_point="chunk_grid", names=["regular", "x"])
    assert [(line.extension_point, line.name, line.loads) for line in found] == [
        ("chunk_grid", "regular", True)
    ]
    assert not {"one", "two"} & set(sys.modules)


def test_who_wins(several):
    def winners(name, kind="codec"):
        return [who for who, line in lines(kind, name, load=False).items() if line.wins]

    assert winners("x") == []  # in conflict
    assert winners("bytes") == ["zarr-core"]
    assert winners("r*", "data_type") == ["zarr-core"]
    assert winners("acme", "hooks") == ["acme-hooks"]
    with config.set(providers={"codec.x": "acme-one", "codec.bytes": "acme-two"}):
        assert winners("x") == ["acme-one"]
        assert winners("bytes") == ["acme-two"]
    with config.set(disabled_plugins={"acme-two", "acme-hooks"}):
        assert winners("x") == ["acme-one"]
        assert winners("acme", "hooks") == []
    with override_extensions({"codec": {"x": BytesCodec}}):
        assert winners("x") == ["this process"]


def test_a_line_says_the_same_in_one_sentence(several):
    found = lines("codec", "x")
    assert str(found["acme-one"]) == "codec x  acme-one 1.5 (one:Codec)  not used"
    assert "broken: ZeroDivisionError" in str(found["acme-two"])
    core = lines("codec", "bytes")["zarr-core"]
    assert str(core).endswith("(zarr_core.codecs.bytes:BytesCodec)")


def test_names(several):
    assert {"bytes", "x"} <= set(usable_names("codec"))
    with config.set(disabled_plugins={"*"}):
        assert usable_names("codec") == ["bytes"]
    with override_extensions({"codec": {"a": BytesCodec}}):
        assert usable_names("codec")[0] == "a"
