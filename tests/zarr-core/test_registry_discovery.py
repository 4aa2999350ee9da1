"""Installed distributions: what their scan finds, and the names of classes."""

import sys
from importlib import reload

import pytest
import zarr_core
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import UnknownExtensionError
from zarr_core.interfaces.codec import Codec
from zarr_core.registry import discovery
from zarr_core.registry.discovery import name_of
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.provider import normalize_name
from zarr_core.registry.resolve import find_class


def scanned(kind, name):
    return discovery.scan().get(kind, {}).get(name, ())


def test_names_are_known_without_importing_anything(install):
    install(
        "acme", {"codec": {"acme.x": "acme:X", "acme.y": "acme:Y"}, "store": {"acme": "acme:S"}}
    )
    assert [str(line) for line in scanned("codec", "acme.x")] == ["acme 1.0 (acme:X)"]
    assert [str(line) for line in scanned("store", "acme")] == ["acme 1.0 (acme:S)"]
    assert "acme" not in sys.modules


def test_the_environment_is_looked_at_once(install):
    install("acme", {"codec": {"acme.x": "acme:X"}})
    first = discovery.scan()
    assert discovery.scan() is first
    discovery.refresh()
    assert discovery.scan() is not first


def test_core_itself_is_not_among_them_but_has_a_version():
    assert scanned("codec", "bytes") == ()
    assert discovery.core_provider("codec", "bytes").version == zarr_core.__version__


def test_groups_of_others_are_left_alone(install):
    site = install("acme", {"codec": {"acme.x": "acme:X"}})
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text(
        "[console_scripts]\nzarr_core.codec = a:b\n[zarr_core.unheard_of]\nz = a:b\n"
    )
    discovery.refresh()
    assert scanned("codec", "acme.x") == ()
    assert "unheard_of" not in discovery.scan()


def test_a_line_that_is_there_twice_counts_once(install):
    site = install("acme", {"codec": {"acme.x": "acme:X"}})
    with (site / "acme-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write("\nacme.x = acme:X\n")
    discovery.refresh()
    assert len(scanned("codec", "acme.x")) == 1


@pytest.mark.parametrize("first", ["1.0", "2.0"])
def test_the_first_copy_of_a_distribution_hides_others_like_its_modules(
    install, tmp_path, monkeypatch, first
):
    second = {"1.0": "2.0", "2.0": "1.0"}[first]
    install("acme-x", {"codec": {"acme.x": "acme:X", "acme.y": "acme:Y"}}, version=second)
    (tmp_path / "site").rename(tmp_path / "second")
    (tmp_path / "site").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "second")])
    install("Acme_X", {"codec": {"acme.x": "acme:X"}}, version=first)
    assert [line.version for line in scanned("codec", "acme.x")] == [first]
    assert not scanned("codec", "acme.y")
    (tmp_path / "site" / f"Acme_X-{first}.dist-info" / "entry_points.txt").unlink()
    discovery.refresh()
    assert not scanned("codec", "acme.x"), "its modules are those of the first one"


def test_the_order_of_the_path_does_not_matter(install):
    install("zz", {"codec": {"acme.x": "zz:X"}})
    install("aa", {"codec": {"acme.x": "aa:X"}})
    assert [line.distribution for line in scanned("codec", "acme.x")] == ["aa", "zz"]


DAMAGED = {"line": b"[zarr_core.codec]\nno equals sign\n", "bytes": b"\xff\xfe[zarr_core.codec]"}


@pytest.mark.parametrize("damage", [*DAMAGED, "metadata"])
def test_a_damaged_installation_hides_no_other(install, damage):
    install("fine", {"codec": {"fine": "fine:X"}})
    site = install("acme", {"codec": {"acme.x": "acme:X"}})
    if damage in DAMAGED:
        file = site / "acme-1.0.dist-info" / "entry_points.txt"
        file.write_bytes(DAMAGED[damage])
    else:
        (site / "acme-1.0.dist-info" / "METADATA").unlink()
    discovery.refresh()
    with pytest.warns(UserWarning, match="cannot be read and are ignored"):
        discovery.scan()
    assert scanned("codec", "fine")
    assert not scanned("codec", "acme.x")
    # The bridges read the same files.  (numcodecs does, too, and cannot be imported then.)
    assert find_class("codec", "numcodecs.base64")


def test_names_of_distributions_are_compared_as_installers_do():
    assert normalize_name(" Acme__X.y ") == "acme-x-y"


# --- names of classes ---


def test_names_of_core_classes():
    assert name_of("codec", BytesCodec) == "bytes"
    assert name_of("chunk_grid", find_class("chunk_grid", "regular")) == "regular"
    with override_extensions({"codec": {"acme.plain": BytesCodec}}):
        assert name_of("codec", BytesCodec) == "acme.plain"
    assert name_of("codec", BytesCodec) == "bytes"


@pytest.mark.parametrize(
    ("targets", "imported"),
    [
        ({"acme.x": "acme.inside:Codec"}, []),
        # The entry point names another module of the package, which may be imported.
        ({"acme.w": "broken_one:Codec", "acme.x": "acme.door:Codec"}, []),
        ({"acme.w": "broken_one:Codec", "acme.x": "acme.door:Codec"}, ["acme.door"]),
        # Others of the package cannot be loaded.
        ({"acme.w": "acme.no:Codec", "acme.x": "acme.door:Codec", "acme.v": "acme:No"}, []),
    ],
    ids=["the same module", "another module", "an imported module", "broken ones"],
)
def test_a_class_is_found_by_its_entry_point(install, codec_source, targets, imported):
    door = {"acme/__init__.py": "", "acme/door.py": "from acme.inside import Codec"}
    install("acme", {"codec": targets}, {**door, "acme/inside.py": codec_source})
    from acme.inside import Codec as Inner

    for module in imported:
        __import__(module)
    assert name_of("codec", Inner) == name_of("codec", Inner) == "acme.x"
    assert "broken_one" not in sys.modules


def test_a_class_of_a_reloaded_module_keeps_its_name(install, codec_source):
    install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": codec_source})
    import acme

    assert find_class("codec", "acme.x") is acme.Codec
    assert name_of("codec", reload(acme).Codec) == "acme.x"


def test_a_class_without_a_name_cannot_be_written():
    class Nameless(Codec):
        pass

    with pytest.raises(UnknownExtensionError, match=r"declare one in the group 'zarr_core.codec'"):
        name_of("codec", Nameless)
