import sys

import pytest
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import UnknownExtensionError
from zarr_core.interfaces.codec import Codec
from zarr_core.registry import resolve
from zarr_core.registry.discovery import name_of
from zarr_core.registry.overrides import override_extensions


def test_names_of_core():
    assert name_of("codec", BytesCodec) == "bytes"
    grid = resolve.find_class("chunk_grid", "regular")
    assert name_of("chunk_grid", grid) == "regular"


def test_the_scope_comes_first():
    with override_extensions({"codec": {"acme.plain": BytesCodec}}):
        assert name_of("codec", BytesCodec) == "acme.plain"
    assert name_of("codec", BytesCodec) == "bytes"


def test_a_class_is_found_by_its_entry_point(install, codec_source):
    install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": codec_source})
    cls = resolve.find_class("codec", "acme.x")
    assert name_of("codec", cls) == "acme.x"
    assert name_of("codec", cls) == "acme.x"


@pytest.mark.parametrize("imported", [False, True])
def test_a_class_is_found_where_the_line_names_another_module(install, codec_source, imported):
    install(
        "acme",
        {"codec": {"acme.w": "broken_one:Codec", "acme.x": "acme.door:Codec"}},
        {
            "acme/__init__.py": "",
            "acme/inside.py": codec_source,
            "acme/door.py": "from acme.inside import Codec",
            "broken_one.py": "1 / 0",
        },
    )
    from acme.inside import Codec as Inner

    if imported:
        __import__("acme.door")
    assert name_of("codec", Inner) == "acme.x"
    assert "broken_one" not in sys.modules


def test_lines_of_the_same_package_that_do_not_load_are_passed_over(install, codec_source):
    install(
        "acme",
        {"codec": {"acme.w": "acme.broken:Codec", "acme.x": "acme:Codec", "acme.v": "acme:No"}},
        {"acme/__init__.py": "from acme.inside import Codec", "acme/inside.py": codec_source},
    )
    from acme import Codec as Inner

    assert name_of("codec", Inner) == "acme.x"


def test_a_class_without_a_name_cannot_be_written():
    class Nameless(Codec):
        pass

    with pytest.raises(UnknownExtensionError, match=r"declare one in the group 'zarr_core.codec'"):
        name_of("codec", Nameless)
