"""Extension points, and providers: what is a valid extension, and what one that is not says."""

import os

import pytest
from zarr_core.errors import ExtensionLoadError
from zarr_core.extension import (
    BytesToBytesCodec,
    Codec,
    ExtensionDefinition,
    Format,
)
from zarr_core.formats.v3 import V3
from zarr_core.known_extensions import CORE_ENTRY_POINTS
from zarr_core.registry import discovery
from zarr_core.registry.extension_points import EXTENSION_POINTS, get_extension_point
from zarr_core.registry.provider import Provider
from zarr_core.stores.memory import MemoryStore

# --- extension points ---


def test_extension_point_names():
    assert " ".join(EXTENSION_POINTS) == (
        "codec data_type chunk_grid chunk_key_encoding chunk_memory_layout storage_transformer "
        "extension format store display native hooks"
    )
    assert all(name == extension_point.name for name, extension_point in EXTENSION_POINTS.items())
    assert EXTENSION_POINTS["codec"].group == "zarr_core.codec"
    assert EXTENSION_POINTS["chunk_grid"].title == "chunk grid"
    ignorable = {name for name, point in EXTENSION_POINTS.items() if point.can_be_ignored}
    assert ignorable == {"codec", "storage_transformer", "extension", "display", "native"}
    with pytest.raises(ValueError, match=r"'codecs'.*expected one of codec, data_type"):
        get_extension_point("codecs")


@pytest.mark.parametrize("extension_point", EXTENSION_POINTS.values(), ids=EXTENSION_POINTS)
def test_every_interface_is_an_abstract_class(extension_point):
    interface = extension_point.interface_class()
    module = f"zarr_core.interfaces.{extension_point.interface.partition(':')[0]}"
    assert interface is object or interface.__module__ == module


class AcmeFormat(Format):
    name, zarr_format = "acme-x", 3
    detection_keys = metadata_keys = ("node.json",)
    chunk_key_encoding = ExtensionDefinition("default")
    read = write = create = update = from_json = to_json = find_unmanaged_key = None


def without(attribute):
    members = {name: value for name, value in vars(AcmeFormat).items() if name != attribute}
    return type("Acme", (Format,), members | {"__qualname__": "Acme"})


def having(interface, **members):
    return type("Acme", (interface,), {**members, "__qualname__": "Acme"})


@pytest.mark.parametrize(
    ("point", "extension", "problem"),
    [
        ("codec", type("Acme", (Codec,), {}), ""),
        ("codec", int, "<class 'int'> is not a class derived from Codec"),
        ("codec", 7, "7 is not a class derived from Codec"),
        ("codec", BytesToBytesCodec, "BytesToBytesCodec does not define decode, encode"),
        ("hooks", 7, ""),
        ("format", AcmeFormat, ""),
        *[
            ("format", without(name), f"Acme does not define the class attributes {name}")
            for name in ("zarr_format", "metadata_keys", "chunk_key_encoding")
        ],
        ("format", having(V3, metadata_keys="a.json"),
         "Acme.metadata_keys must be tuple[str, ...], not 'a.json'"),
        ("format", having(V3, zarr_format="3"), "Acme.zarr_format must be int, not '3'"),
        ("store", having(MemoryStore, read_only="yes"), "Acme.read_only must be bool, not 'yes'"),
        ("store", having(MemoryStore, max_concurrency=2.5),
         "Acme.max_concurrency must be int | None, not 2.5"),
        ("store", having(MemoryStore, supports_listing=property(bool)), ""),
        ("store", having(MemoryStore, max_concurrency=None), ""),
    ],
)  # fmt: skip
def test_what_is_not_a_valid_extension_is_named(point, extension, problem):
    assert get_extension_point(point).problem(extension) == problem


def test_an_object_that_is_no_extension_is_shortened():
    problem = get_extension_point("codec").problem(os.environ)  # can contain secrets
    assert len(problem) < 100


# --- the table of the core ---


@pytest.mark.parametrize(
    ("extension_point", "name"),
    [(point, name) for point, names in CORE_ENTRY_POINTS.items() for name in names],
)
def test_every_line_loads(extension_point, name):
    assert discovery.core_provider(extension_point, name).load()


def test_a_family_answers_to_its_names_only():
    assert discovery.core_provider("data_type", "r24").target.endswith(":RawBits")
    assert discovery.core_provider("data_type", "rhubarb") is None
    assert discovery.core_provider("codec", "r24") is None


# --- loading ---


def acme(target, extension_point="codec"):
    return Provider(extension_point, "acme", target, "acme-dist", "2.0")


def test_identity_is_reported():
    line = acme("acme.mod:Outer.Inner [extra]")
    assert line.origin == "acme-dist 2.0"
    assert str(line) == "acme-dist 2.0 (acme.mod:Outer.Inner [extra])"
    assert line.module == "acme.mod"


def test_it_loads_a_class_within_a_class(install, codec_source):
    install("acme-dist", {}, {"acme.py": f"{codec_source}\nclass Outer: Inner = Codec"})
    assert acme("acme:Outer.Inner").load().__name__ == "Codec"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "from zarr_core.extension import BytesToBytesCodec\nclass Codec(BytesToBytesCodec): pass",
            "Codec does not define decode, encode",
        ),
        (
            "from zarr_core.extension import Warpdrive",
            "it requires zarr_core.extension of another version of zarr-core",
        ),
    ],
)
def test_a_problem_becomes_a_load_error(install, source, reason):
    install("acme-dist", {}, {"acme.py": source})
    with pytest.raises(ExtensionLoadError) as caught:
        acme("acme:Codec").load()
    error = caught.value
    assert reason in error.reason
    assert (error.extension_point, error.extension_name) == ("codec", "acme")
    assert (error.target, error.distribution) == ("acme:Codec", "acme-dist 2.0")
    assert "define" in reason or error.__cause__ is not None


def test_interrupting_an_import_interrupts(install):
    install("acme-dist", {}, {"acme.py": "raise KeyboardInterrupt"})
    with pytest.raises(KeyboardInterrupt):
        acme("acme:Codec").load()


def test_hooks_may_be_any_object(install):
    install("acme-dist", {}, {"acme.py": "hooks = object()"})
    assert type(acme("acme:hooks", "hooks").load()) is object
    assert acme("acme", "hooks").load().__name__ == "acme"
