"""Extension points, and providers: what is a valid extension, and what one that is not says."""

import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ExtensionLoadError
from zarr_core.extension import (
    INTERFACE_VERSION,
    BytesToBytesCodec,
    Codec,
    ExtensionDefinition,
    Format,
)
from zarr_core.formats.v3 import V3
from zarr_core.registry import discovery, provider
from zarr_core.registry.extension_points import EXTENSION_POINTS, get_extension_point
from zarr_core.registry.provider import Provider
from zarr_core.registry.resolve import find_class
from zarr_core.stores.memory import MemoryStore

PYPROJECT = Path(__file__).parents[2] / "packages" / "zarr-core" / "pyproject.toml"
NEWER = INTERFACE_VERSION + 1

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


def test_the_table_equals_the_entry_points():
    groups = tomllib.loads(PYPROJECT.read_text())["project"]["entry-points"]
    assert {
        f"zarr_core.{point}": names for point, names in discovery.ENTRY_POINTS.items()
    } == groups


@pytest.mark.parametrize(
    ("extension_point", "name"),
    [(point, name) for point, names in discovery.ENTRY_POINTS.items() for name in names],
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


def test_pluggy_is_imported_with_hookimpl():
    code = (
        "import sys, zarr_core.extension as extension\n"
        "assert not {'pluggy', 'importlib_metadata', 'jsonschema'} & set(sys.modules)\n"
        "extension.hookimpl\n"
        "assert 'pluggy' in sys.modules\n"
        "try: extension.nothing_of_this_name\n"
        "except AttributeError: pass\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- versions of the interface ---


@pytest.fixture
def two_plugins(install, codec_source):
    """A function that installs a codec with a declaration, and another one without."""

    def write(version, source=codec_source):
        points = {"codec": {"acme.other": "acme_other:Codec"}}
        install("acme-other", points, {"acme_other.py": codec_source})
        points = {"codec": {"acme.x": "acme:Codec"}, "interface_version": {f"{version}": "acme"}}
        install("acme-dist", points, {"acme.py": source}, version="2.0")

    return write


def test_the_current_version_may_be_declared(two_plugins):
    two_plugins(INTERFACE_VERSION)
    array = zarr.create_array(data=np.arange(4), compressors=zarr.codec("acme.x", key=3))
    assert array[:].tolist() == [0, 1, 2, 3]


def test_a_newer_distribution_is_rejected_and_others_are_not_affected(two_plugins):
    two_plugins(NEWER, "raise SystemExit('imported')")
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
    names = ["acme.x", "acme.other"]
    listed = zarr.installed_extensions(extension_point="codec", names=names)
    errors = {line.name: line.error for line in listed}
    assert "requires version" in errors["acme.x"]
    assert errors["acme.other"] is None


@pytest.mark.parametrize(
    ("declared", "supported", "message"),
    [
        (1, (2, 3), r"requires version 1 .* versions 2 to 3\. Upgrade acme-dist;"),
        ("two", (1, 1), "must be an integer, not 'two'.* Repair acme-dist"),
    ],
)
def test_another_version_is_rejected(two_plugins, monkeypatch, declared, supported, message):
    two_plugins(declared)
    monkeypatch.setattr(provider, "OLDEST_INTERFACE_VERSION", supported[0])
    monkeypatch.setattr(provider, "INTERFACE_VERSION", supported[1])
    with pytest.raises(ExtensionLoadError, match=message):
        find_class("codec", "acme.x")
