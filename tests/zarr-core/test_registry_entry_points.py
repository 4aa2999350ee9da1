"""All forms of installed metadata, compared with importlib_metadata."""

import contextlib
import importlib
import os
import subprocess
import sys
import zipfile

import importlib_metadata
import pytest
from zarr_core.registry import discovery, entry_points

LINES = "[zarr_core.codec]\nacme.x = acme:X\n"
METADATA = "Metadata-Version: 2.1\nName: Acme.X\nVersion: 1.5\n\nName: of something else\n"
FORMS = {
    "wheel": ("", "Acme.X-1.5.dist-info/METADATA"),
    "egg-info of a source folder": ("", "acme_x.egg-info/PKG-INFO"),
    "egg-info with version and Python": ("", "Acme.X-1.5-py3.11.egg-info/PKG-INFO"),
    "unpacked egg": ("Acme.X-1.5-py3.11.egg", "EGG-INFO/PKG-INFO"),
}


def found():
    providers = discovery.scan()
    return [str(line) for line in providers.get("codec", {}).get("acme.x", ())]


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
        ("entry_points.txt", "[console_scripts]\n", ""),
    ],
    ids=["metadata without a name", "other entry points"],
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
