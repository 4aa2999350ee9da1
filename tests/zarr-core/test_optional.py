"""The core without the distributions that have functions for it."""

import sys

import pytest
import zarr_core as zarr
from zarr_core.known_extensions import FUNCTIONS
from zarr_core.optional import optional_function

NAMES = [name for name in FUNCTIONS if name in zarr.__all__]


@pytest.fixture
def without(monkeypatch):
    """Simulates that distributions are not installed."""

    def remove(*distributions):
        for distribution in distributions:
            package = distribution.replace("-", "_")
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                monkeypatch.delitem(sys.modules, name)
            monkeypatch.setitem(sys.modules, package, None)

    return remove


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_other_distributions_say_what_to_install(name, without):
    distribution = FUNCTIONS[name][0]
    without(distribution)
    function = getattr(zarr, name)
    assert function.__name__ == name
    with pytest.raises(
        ModuleNotFoundError, match=f"{name} needs {distribution}.*pip install {distribution}"
    ):
        function(zarr.create_group(), "dest")


def test_a_member_cannot_be_moved_without_zarr_transfer(without):
    without("zarr-transfer")
    group = zarr.create_group()
    group.create_group("a")
    with pytest.raises(ModuleNotFoundError, match=r"Group\.move needs zarr-transfer"):
        group.move("a", "b")
    assert list(group) == ["a"]


def test_an_existing_array_is_opened_with_its_arguments_without_zarr_transfer(without):
    without("zarr-transfer")
    store, given = zarr.MemoryStore(), {"chunks": 2, "fill_value": 7, "attributes": {"a": 1}}
    for number in range(2):  # the first call creates the array
        array = zarr.open_array(store, "a", shape=(3,), dtype="<i2", match=True, **given)
        array.attrs["number"] = number
        assert zarr.open_group({}, "a").require_array("x", 3, "i2").shape == array.shape
    assert zarr.open_array(store, "a", shape=3, dtype="i2").chunks == (2,)
    for arguments in (
        {"shape": 4}, {"dtype": "i4"}, {"dtype": ">i2"}, {"compressors": None},
        given | {"dtype": "i2", "attributes": {"a": 2}}, {"filters": "transpose"},
    ):  # fmt: skip
        with pytest.raises(ModuleNotFoundError, match="match=True.*pip install zarr-transfer"):
            zarr.open_array(store, "a", **arguments)
        assert zarr.open_array(store, "a", **arguments, match=False).shape == (3,)
    with pytest.raises(ModuleNotFoundError, match="metadata= needs zarr-transfer"):
        zarr.create_array(metadata={"shape": [3]})


def test_consolidated_metadata_is_kept_without_zarr_formats(without, tmp_path):
    root = zarr.create_group(tmp_path)
    root.create_array("x", shape=3)
    document = zarr.consolidate_metadata(tmp_path).metadata.consolidated.to_json()
    without("zarr-formats")
    with pytest.warns(UserWarning, match="is not read.*pip install zarr-formats"):
        zarr.open_group(tmp_path, "r")
    with pytest.warns(UserWarning, match="not updated after changes.*pip install zarr-formats"):
        group = zarr.open_group(tmp_path)
    group.create_array("y", shape=3)
    group.attrs["a"] = 1
    assert list(group) == ["x", "y"]
    assert group.metadata.consolidated.to_json() == document
    with pytest.raises(ModuleNotFoundError, match="pip install zarr-formats"):
        zarr.open_consolidated(tmp_path)


@pytest.mark.parametrize("function", [zarr.open, zarr.create_group])
def test_locations_in_archives_need_zarr_stores(function, without, tmp_path):
    without("zarr-stores")
    with pytest.raises(ModuleNotFoundError, match="pip install zarr-stores"):
        function(f"{tmp_path}/a.zip|zip:b")
    (tmp_path / "a|b").mkdir()
    zarr.create_group(f"{tmp_path}/a|b")
    assert zarr.open(f"{tmp_path}/a|b").path == ""


def test_everything_else_works_without_other_distributions(without, tmp_path):
    without(*{distribution for distribution, _ in FUNCTIONS.values()})
    group = zarr.create_group(tmp_path / "group")
    group.create_array("x", data=[1, 2, 3])
    assert zarr.open(tmp_path / "group")["x"][...].tolist() == [1, 2, 3]
    zarr.remove(group["x"])
    assert not list(group)


@pytest.mark.parametrize("name", NAMES)
def test_the_names_are_those_of_the_other_distributions(name):
    module, _, attribute = FUNCTIONS[name][1].partition(":")
    package = pytest.importorskip(module)
    assert getattr(zarr, name) is getattr(package, attribute)


def test_an_error_within_zarr_transfer_is_not_taken_for_a_missing_one(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.partition(".")[0] == "zarr_transfer"]:
        monkeypatch.delitem(sys.modules, name)
    package = tmp_path / "zarr_transfer"
    package.mkdir()
    (package / "__init__.py").write_text("import surely_not_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        optional_function("copy")
    sys.modules.pop("zarr_transfer", None)
