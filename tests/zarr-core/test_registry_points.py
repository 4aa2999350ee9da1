import os

import pytest
from zarr_core.registry.points import KINDS, kind_called


def test_there_are_eleven_kinds():
    assert set(KINDS) == {
        "codec",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "chunk_memory_layout",
        "storage_transformer",
        "extension",
        "format",
        "store",
        "bridge",
        "hooks",
    }
    assert all(name == kind.name for name, kind in KINDS.items())
    assert KINDS["codec"].group == "zarr_core.codec"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_interface_is_an_abstract_class(kind):
    interface = kind.interface_class()
    assert interface is object or interface.__module__ == kind.interface.partition(":")[0]


def test_only_these_kinds_may_be_left_out():
    assert {name: kind.unknown for name, kind in KINDS.items() if kind.unknown != "refuse"} == {
        "codec": "skip",
        "storage_transformer": "skip",
        "extension": "ignore",
    }


def test_an_unknown_kind_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"'codecs'.*there are codec, data_type"):
        kind_called("codecs")


def test_objections():
    from zarr_core.extension import BytesToBytesCodec, Codec

    codec = KINDS["codec"]
    assert "is not a class derived from Codec" in codec.objection(int)
    assert "is not a class derived from Codec" in codec.objection(7)
    assert len(codec.objection(os.environ)) < 100, "it may hold secrets"
    assert codec.objection(BytesToBytesCodec) == "BytesToBytesCodec does not define decode, encode"
    assert "chunk grid" in KINDS["chunk_grid"].title
    assert KINDS["hooks"].objection(7) == ""

    class Fine(Codec):
        pass

    assert codec.objection(Fine) == ""
