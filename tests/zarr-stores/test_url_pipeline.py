"""Locations within archives, and locations with a format."""

import os
import shutil
import zipfile
from urllib.parse import quote

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from zarr_core.errors import NodeNotFoundError, StoreCapabilityError, StoreError, ZarrError
from zarr_stores.zip import ZipStore

DATA = np.arange(6)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Arrays in directories, archives and a database."""
    path = tmp_path_factory.mktemp("pipelines")
    for name, zarr_format in (("a3", 3), ("g/a3", 3), ("g/a2", 2), ("a2", 2)):
        zarr.create_array(path / name, data=DATA, zarr_format=zarr_format)
    zarr.create_array(path / "n", data=DATA, zarr_format="n5", compressors=None)
    shutil.make_archive(str(path / "g"), "zip", path / "g")
    shutil.copy(path / "g.zip", path / "without-suffix")
    with zipfile.ZipFile(path / "outer.zip", "w") as archive:
        archive.write(path / "g.zip", "inner/g.zip")
        archive.write(path / "g.zip", "plain")
    zarr.create_array(f"sqlite://{path}/database", path="a3", data=DATA).store.close()
    return path


PIPELINES = [
    # pipeline, format
    ("a3|zarr3:", "v3"),
    ("a3/|zarr3:", "v3"),
    ("a3|zarr3", "v3"),
    ("a2/|zarr2:", "v2"),
    ("n/|n5:", "n5"),
    ("a3|auto:", "v3"),
    ("a2/|auto:", "v2"),
    ("g/|zarr3:a3", "v3"),
    ("g|zarr3:a3/", "v3"),
    ("g/|zarr2:a2", "v2"),
    ("g/|zarr3:a%33", "v3"),
    ("g.zip|zip:|zarr3:a3", "v3"),
    ("g.zip|zip|zarr3:a3", "v3"),
    ("g.zip|zip:a2/|zarr2:", "v2"),
    ("g.zip|zip:a3", "v3"),
    ("without-suffix|zip:a3/|zarr3:", "v3"),
    ("outer.zip|zip:inner/g.zip|zip:a3/|zarr3:", "v3"),
    ("outer.zip|zip:plain|zip:a2", "v2"),
]

MORE = [
    # TensorStore does not find these.
    ("a3|ZARR3:", "v3"),
    ("without-suffix|auto:a3", "v3"),
    ("outer.zip|zip:plain|auto:a2", "v2"),
    ("g/|zarr3:/a3", "v3"),
]


@pytest.mark.parametrize(("pipeline", "name"), PIPELINES + MORE)
@pytest.mark.parametrize("url", [False, True])
def test_pipelines_are_opened(place, pipeline, name, url):
    location = f"file://{place}/{pipeline}" if url else f"{place}/{pipeline}"
    array = zarr.open(location, "r")
    assert array.stored.format.name == name
    assert np.array_equal(array[...], DATA)
    store, path = zarr.resolve_store_path(location, read_only=True)
    assert (store, path) == (array.store, array.path)


@pytest.mark.parametrize(("pipeline", "name"), PIPELINES)
def test_tensorstore_opens_the_same_pipelines(place, pipeline, name):
    ts = pytest.importorskip("tensorstore")
    theirs = ts.open(f"file://{place}/{pipeline}").result()
    assert {"zarr": "v2", "zarr3": "v3", "n5": "n5"}[theirs.spec().to_json()["driver"]] == name
    assert np.array_equal(theirs.read().result(), DATA)


def test_containers_are_recognised_by_their_first_bytes(place):
    for location in ("database|auto:", "database|sqlite:"):
        assert zarr.open(f"{place}/{location}", "r", path="a3").shape == (6,)
    with pytest.raises(StoreError, match="is a file, not a directory"):
        zarr.create_array(f"{place}/without-suffix", shape=4)  # changed only if it is requested
    assert type(zarr.resolve_store_path(f"{place}/without-suffix|auto:")[0]) is ZipStore


def test_a_remote_archive_is_opened(place):
    pytest.importorskip("fsspec")
    store, _ = zarr.resolve_store_path("fsspec+memory://pipelines/below")
    for name in ("g.zip", "outer.zip", "without-suffix"):
        store.set(name, (place / name).read_bytes())
    zarr.create_array(store, path="b2", data=DATA, zarr_format=2)
    base = "fsspec+memory://pipelines/below"
    for pipeline in (
        "/g.zip|zip:a3|zarr3:", "/g.zip|auto:a3", "/without-suffix|auto:a3", "|zarr2:b2",
        "/b2|auto:", "|auto:b2", "/outer.zip|zip:inner/g.zip|zip:|zarr3:a3",
    ):  # fmt: skip
        assert np.array_equal(zarr.open(base + pipeline, "r")[...], DATA), pipeline
    with pytest.raises(StoreError, match="no path of a file"):
        zarr.open("fsspec+memory://pipelines|zip:a", "r")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_new_nodes_have_the_format_of_the_pipeline(tmp_path, zarr_format):
    array = zarr.create_array(f"{tmp_path}/x|zarr{zarr_format}:a/b", data=DATA, path="c")
    assert (array.path, array.zarr_format) == ("a/b/c", zarr_format)
    group = zarr.create_group(f"{tmp_path}/y|zarr{zarr_format}:g")
    assert (group.path, group.zarr_format) == ("g", zarr_format)
    opened = zarr.open(f"{tmp_path}/z|zarr{zarr_format}:", "a", shape=4)
    assert opened.zarr_format == zarr.open(tmp_path / "z").zarr_format == zarr_format
    metadata = array.metadata
    again = zarr.array_from_metadata(
        f"{tmp_path}/x|zarr{zarr_format}:a/b/c", metadata, zarr_format=zarr_format
    )
    assert np.array_equal(again[...], DATA)


def test_an_archive_is_created_and_extended(tmp_path):
    with zarr.create_group(f"{tmp_path}/new|zip:|zarr2:") as group:
        group.create_array("a", data=DATA)
    with zarr.open_group(f"{tmp_path}/new|auto:", "r+") as group:
        group.create_array("b", data=DATA)
    assert zipfile.is_zipfile(tmp_path / "new")
    found = zarr.open(f"{tmp_path}/new|zip:b", "r")
    assert (found.zarr_format, found.read_only) == (2, True)
    assert np.array_equal(found[...], DATA)
    options = {"compression": zipfile.ZIP_DEFLATED}
    with zarr.create_group(f"{tmp_path}/small|zip:", storage_options=options):
        pass
    with zipfile.ZipFile(tmp_path / "small") as archive:
        assert archive.infolist()[0].compress_type == zipfile.ZIP_DEFLATED


def test_other_functions_accept_pipelines(tmp_path, place):
    copied = zarr.copy(zarr.open(f"{place}/g.zip|zip:|zarr3:a3", "r"), f"{tmp_path}/copy")
    assert np.array_equal(copied[...], DATA)
    zarr.remove(f"{tmp_path}|zarr3:copy")
    assert not os.path.exists(tmp_path / "copy")
    # Functions that cannot create nodes of a format do not ignore it.
    with pytest.raises(StoreError, match="no node in the format 'v2' exists at 'x'"):
        zarr.copy(copied, f"{tmp_path}|zarr2:x")
    with pytest.raises(NodeNotFoundError, match=r"looked for .zarray, .zgroup"):
        zarr.consolidate_metadata(f"{place}/g.zip|zip:a3|zarr2:")


@pytest.mark.parametrize(
    ("pipeline", "error", "message"),
    [
        ("a2|zarr3:", NodeNotFoundError, "no Zarr array or group here"),
        ("a3|zip:", StoreError, "is a directory, not a file for 'zip'"),
        ("a3/zarr.json|zip:", StoreError, "not a zip file"),
        ("a3|nonsense:", ZarrError, "nonsense"),
        ("a3|zarr9:", ZarrError, "v9"),
        ("a3|zarr3:|auto:", StoreError, "'zarr3' must be the last part"),
        ("outer.zip|auto:plain|zip:a2", StoreError, "'auto' must be the last part"),
        ("a3|zarr3:|zip:a", StoreError, "'zarr3' must be the last part"),
        ("g.zip|zip:nothing|zip:a", NodeNotFoundError, "Nothing is stored here"),
        ("g.zip|zip:|zip:a", StoreError, "a path is missing"),
        ("outer.zip|zip:inner/g.zip|sqlite:", StoreCapabilityError, "copy the file"),
    ],
)
@pytest.mark.parametrize("url", [False, True])
def test_contradictions_are_rejected(place, pipeline, error, message, url):
    location = f"file://{place}/{pipeline}" if url else f"{place}/{pipeline}"
    with pytest.raises(error, match=f"(?i){message}"):
        zarr.open(location, "r")


def test_a_format_beside_another_is_rejected(place):
    for open_ in (zarr.open, zarr.open_array, zarr.create_array):
        with pytest.raises(StoreError, match="zarr_format=2 contradicts 'zarr3'"):
            open_(
                f"{place}/x|zarr3:",
                zarr_format=2,
                **({"shape": 1} if open_ is not zarr.open else {}),
            )
    assert zarr.open(f"{place}/a3|zarr3:", zarr_format="v3").shape == (6,)
    assert not (place / "x").exists()


def test_paths_with_a_bar_are_paths(tmp_path):
    for name in ("a|b", "x||y", "|", "a|b c:d"):
        zarr.create_array(f"{tmp_path}/{name}", data=DATA)
        assert np.array_equal(zarr.open(f"{tmp_path}/{name}")[...], DATA)
        assert (tmp_path / name).is_dir()
    # A path object, or something that exists, is never a pipeline.
    zarr.create_array(tmp_path / "g.zip|zip:a", data=DATA)
    assert np.array_equal(zarr.open(f"{tmp_path}/g.zip|zip:a")[...], DATA)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(name=NAMES)
def test_any_name_can_be_quoted(tmp_path_factory, name):
    path = tmp_path_factory.mktemp("names")
    with ZipStore(path / "archive") as store:
        try:
            path_in_archive = zarr.create_array(store, path=name, data=DATA).path
        except ZarrError:  # not the name of a node
            assume(False)
    for pipeline in (f"|zip:{quote(name)}", f"|zip:|zarr3:{quote(name)}", f"|auto:{quote(name)}"):
        array = zarr.open(f"{path}/archive{pipeline}", "r")
        assert array.path == path_in_archive  # a backslash is a separator
        assert np.array_equal(array[...], DATA)
