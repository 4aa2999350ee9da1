import os

import pytest
from zarr_core.extension import ExtensionDefinition, Format
from zarr_core.formats.v3 import V3
from zarr_core.registry.extension_points import EXTENSION_POINTS, get_extension_point
from zarr_core.stores.memory import MemoryStore


def test_extension_point_names():
    assert set(EXTENSION_POINTS) == {
        "codec",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "chunk_memory_layout",
        "storage_transformer",
        "extension",
        "format",
        "store",
        "display",
        "native",
        "hooks",
    }
    assert all(name == extension_point.name for name, extension_point in EXTENSION_POINTS.items())
    assert EXTENSION_POINTS["codec"].group == "zarr_core.codec"


def test_class_attributes_of_a_format_are_required():
    class Complete(Format):
        name, zarr_format = "acme-x", 3
        detection_keys = metadata_keys = ("node.json",)
        chunk_key_encoding = ExtensionDefinition("default")
        read = write = create = update = from_json = to_json = find_unmanaged_key = None

    point = get_extension_point("format")
    assert point.problem(Complete) == ""
    for attribute in ("zarr_format", "metadata_keys", "chunk_key_encoding"):
        kept = {name: value for name, value in vars(Complete).items() if name != attribute}
        problem = point.problem(
            type("Incomplete", (Format,), kept | {"__qualname__": "Incomplete"})
        )
        assert problem == f"Incomplete does not define the class attributes {attribute}"


@pytest.mark.parametrize(
    ("point", "interface", "name", "value", "problem"),
    [
        ("format", V3, "metadata_keys", "a.json", "tuple[str, ...], not 'a.json'"),
        ("format", V3, "zarr_format", "3", "int, not '3'"),
        ("store", MemoryStore, "read_only", "yes", "bool, not 'yes'"),
        ("store", MemoryStore, "max_concurrency", 2.5, "int | None, not 2.5"),
        ("store", MemoryStore, "supports_listing", property(bool), ""),
        ("store", MemoryStore, "max_concurrency", None, ""),
    ],
)
def test_class_attributes_have_their_types(point, interface, name, value, problem):
    kind = type("Acme", (interface,), {name: value, "__qualname__": "Acme"})
    expected = f"Acme.{name} must be {problem}" if problem else ""
    assert get_extension_point(point).problem(kind) == expected


@pytest.mark.parametrize("extension_point", EXTENSION_POINTS.values(), ids=EXTENSION_POINTS)
def test_every_interface_is_an_abstract_class(extension_point):
    interface = extension_point.interface_class()
    module = f"zarr_core.interfaces.{extension_point.interface.partition(':')[0]}"
    assert interface is object or interface.__module__ == module


def test_ignorable_extension_points():
    ignorable = {name for name, point in EXTENSION_POINTS.items() if point.can_be_ignored}
    assert ignorable == {"codec", "storage_transformer", "extension", "display", "native"}


def test_unknown_extension_point_raises():
    with pytest.raises(ValueError, match=r"'codecs'.*expected one of codec, data_type"):
        get_extension_point("codecs")


def test_objections():
    from zarr_core.extension import BytesToBytesCodec, Codec

    codec = EXTENSION_POINTS["codec"]
    assert "is not a class derived from Codec" in codec.problem(int)
    assert "is not a class derived from Codec" in codec.problem(7)
    assert len(codec.problem(os.environ)) < 100, "it may hold secrets"
    assert codec.problem(BytesToBytesCodec) == "BytesToBytesCodec does not define decode, encode"
    assert "chunk grid" in EXTENSION_POINTS["chunk_grid"].title
    assert EXTENSION_POINTS["hooks"].problem(7) == ""

    class Fine(Codec):
        pass

    assert codec.problem(Fine) == ""
