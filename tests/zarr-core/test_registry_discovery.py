"""Installed distributions: all forms of their metadata, what is found, and the names of classes."""

import contextlib
import importlib
import os
import subprocess
import sys
import zipfile

import importlib_metadata
import pytest
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import UnknownExtensionError
from zarr_core.interfaces.codec import Codec
from zarr_core.registry import discovery, entry_points
from zarr_core.registry.discovery import name_of
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.provider import normalize_name
from zarr_core.registry.resolve import find_class


def scanned(name):
    return discovery.scan().get("codec", {}).get(name, ())


def test_the_environment_is_looked_at_once(install):
    install("acme", {"codec": {"acme.x": "acme:X"}})
    first = discovery.scan()
    assert discovery.scan() is first
    discovery.refresh()
    assert discovery.scan() is not first


def test_a_line_that_is_there_twice_counts_once(install):
    site = install("acme", {"codec": {"acme.x": "acme:X"}})
    with (site / "acme-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write("\nacme.x = acme:X\n")
    discovery.refresh()
    assert len(scanned("acme.x")) == 1


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
    assert [line.version for line in scanned("acme.x")] == [first]
    assert not scanned("acme.y")
    (tmp_path / "site" / f"Acme_X-{first}.dist-info" / "entry_points.txt").unlink()
    discovery.refresh()
    assert not scanned("acme.x"), "its modules are those of the first one"


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
    assert scanned("fine")
    assert not scanned("acme.x")
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
    assert name_of("codec", importlib.reload(acme).Codec) == "acme.x"


def codec_class():
    class Nameless(Codec):
        pass

    return Nameless


def test_classes_of_one_qualified_name_keep_their_names():
    first, second = codec_class(), codec_class()
    with override_extensions({"codec": {"acme.first": first, "acme.second": second}}):
        assert [name_of("codec", cls) for cls in (first, second)] == ["acme.first", "acme.second"]
        with pytest.raises(UnknownExtensionError, match="needs an entry point"):
            name_of("codec", codec_class())


def test_a_class_without_a_name_cannot_be_written():
    with pytest.raises(UnknownExtensionError, match=r"declare one in the group 'zarr_core.codec'"):
        name_of("codec", codec_class())
    with pytest.raises(UnknownExtensionError):  # r8, r16 ... are its names
        name_of("data_type", find_class("data_type", "r8"))


# --- forms of metadata, compared with importlib_metadata ---

LINES = "[zarr_core.codec]\nacme.x = acme:X\n"
METADATA = "Metadata-Version: 2.1\nName: Acme.X\nVersion: 1.5\n\nName: of something else\n"
FORMS = {
    "wheel": ("", "Acme.X-1.5.dist-info/METADATA"),
    "egg-info of a source folder": ("", "acme_x.egg-info/PKG-INFO"),
    "egg-info with version and Python": ("", "Acme.X-1.5-py3.11.egg-info/PKG-INFO"),
    "unpacked egg": ("Acme.X-1.5-py3.11.egg", "EGG-INFO/PKG-INFO"),
}


def found():
    return [str(line) for line in scanned("acme.x")]


@pytest.fixture
def path(monkeypatch):
    """A function that adds folders or files to the path for a test."""

    def put(*places):
        monkeypatch.setattr(sys, "path", [*map(str, places), *sys.path])
        importlib.invalidate_caches()
        discovery.refresh()

    yield put
    monkeypatch.undo()
    discovery.refresh()


def unpacked(root, form):
    folder, metadata = FORMS[form]
    place = root / folder
    file = place / metadata
    file.parent.mkdir(parents=True)
    file.write_text(METADATA)
    (file.parent / "entry_points.txt").write_text(LINES)
    return place


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_any_form_is_read(form, packed, tmp_path, path):
    place = unpacked(tmp_path / "unpacked", form)
    name = place.name if place.suffix == ".egg" else "plugins.zip"
    path(_packed(place, tmp_path / name) if packed else place)
    assert found() == ["Acme.X 1.5 (acme:X)"]


def test_a_pth_file_leads_to_a_source_folder(tmp_path):
    place = unpacked(tmp_path / "source", "egg-info of a source folder")
    site = tmp_path / "site"
    site.mkdir()
    (site / "acme.pth").write_text(f"{place}\n")
    program = (
        f"import site; site.addsitedir({str(site)!r})\n"
        "from zarr_core.registry import discovery\n"
        "print(*discovery.scan()['codec']['acme.x'])"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert run.stdout.decode().strip() == "Acme.X 1.5 (acme:X)"


def test_an_egg_info_that_is_a_file_has_no_entry_points(tmp_path, path):
    (tmp_path / "acme.egg-info").write_text(METADATA)
    path(tmp_path)
    assert found() == []


def test_additional_finder_is_used(tmp_path, path, monkeypatch):
    place = unpacked(tmp_path, "wheel")

    class Finder:
        @staticmethod
        def find_spec(*_):
            return None

        @staticmethod
        def find_distributions(_context):
            yield importlib_metadata.Distribution.at(str(place / "Acme.X-1.5.dist-info"))

    path()
    assert found() == []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    discovery.refresh()
    assert found() == ["Acme.X 1.5 (acme:X)"]
    assert "zarr-codecs" in str(discovery.scan()), "nothing else is lost"


@pytest.mark.parametrize(
    "strange", ["no such folder", "no\0name", b"bytes", 7, "a file", "bad.egg"]
)
def test_strange_parts_of_the_path_are_passed_over(strange, tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").write_text("no archive")
    (tmp_path / "bad.egg").write_text("no archive either")
    path(unpacked(tmp_path, "wheel"))
    monkeypatch.setattr(sys, "path", [strange, *sys.path])
    discovery.refresh()
    assert found() == ["Acme.X 1.5 (acme:X)"]


def test_the_current_folder_is_the_empty_part(tmp_path, path, monkeypatch):
    monkeypatch.chdir(unpacked(tmp_path, "wheel"))
    path("")
    assert found() == ["Acme.X 1.5 (acme:X)"]


def test_duplicate_path_entries_count_once(tmp_path, path):
    place = unpacked(tmp_path, "wheel")
    path(place, place, f"{place}/.")
    assert found() == ["Acme.X 1.5 (acme:X)"]


def test_metadata_in_unusual_order_and_letters(tmp_path, path):
    place = unpacked(tmp_path, "wheel")
    text = "VERSION:2\nSummary: Name: no\n continued: x\nname:\tacme-x  \n\ntext\n"
    (place / "Acme.X-1.5.dist-info" / "METADATA").write_text(text)
    path(place)
    assert found() == ["acme-x 2 (acme:X)"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a = b\n; c = d\n\n",
        "[zarr_core.codec]\r\n  a.b = c:d \r\n[ other ]\nx=y\n",
        "[g]\nhttps://x.y/z=a.b:C [extra]\n",
        "[g]\na = b = c\n",
    ],
)
def test_lines_mean_what_they_mean_to_importlib_metadata(text, tmp_path):
    (tmp_path / "entry_points.txt").write_text(text.replace(";", "#"), newline="")
    expected = importlib_metadata.Distribution.at(tmp_path).entry_points
    mine = list(entry_points.lines(text))
    assert mine == [(point.group, point.name, point.value) for point in expected]


@pytest.mark.parametrize("text", ["a = b", "[g]\nno equals sign", "[g\na = b"])
def test_files_of_other_formats_are_rejected(text):
    with pytest.raises(ValueError, match="is not a valid line of entry_points.txt"):
        list(entry_points.lines(text))


def test_this_environment_is_read_as_importlib_metadata_reads_it():
    def of(distributions):
        return {(name, version, "".join(text.split())) for name, version, text in distributions}

    theirs = [
        (item.name, item.version, item.read_text("entry_points.txt") or "")
        for item in importlib_metadata.distributions()
    ]
    assert of(line[1:] for line in entry_points.distributions("[")) == of(
        line for line in theirs if "[" in line[2]
    )
    assert os.sep not in "".join(name for _, name, _, _ in entry_points.distributions("["))


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize(
    ("file", "content", "warning"),
    [
        ("METADATA", "Version: 1\n\nName: of no use\n", "does not name the distribution"),
        ("entry_points.txt", "[console_scripts]\nzarr_core.codec = a:b\n", ""),
        ("entry_points.txt", "[zarr_core.unheard_of]\nacme.x = acme:X\n", ""),
    ],
    ids=["metadata without a name", "other entry points", "an unknown group"],
)
def test_what_has_no_entry_points_is_passed_over(file, content, warning, packed, tmp_path, path):
    place = unpacked(tmp_path / "site", "wheel")
    (place / "Acme.X-1.5.dist-info" / file).write_text(content)
    path(_packed(place, tmp_path / "a.zip") if packed else place)
    with pytest.warns(UserWarning, match=warning) if warning else contextlib.nullcontext():
        assert found() == []


def _packed(place, archive):
    with zipfile.ZipFile(archive, "w") as file:
        for item in place.rglob("*"):
            if item.is_file():
                file.write(item, item.relative_to(place))
    return archive
