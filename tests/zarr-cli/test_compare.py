"""``zarr-core diff``, between different stores and formats."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_cli.compare import compare
from zarr_cli.compare.compare_values import Tolerance, unequal


def test_equal_hierarchies(here, command, query):
    assert command("diff", "3.zarr", "three.zip") == "equal: 10 nodes compared\n"
    assert query("diff", "3.zarr", "three.zip") == {"equal": True, "nodes": 10, "differences": []}
    command("diff", "2.zarr#height", "n5.zarr#height", "--ignore-storage")
    command("diff", "2.zarr#height", "n5.zarr#height", status=1)
    zarr.copy(zarr.open_array("3.zarr", path="height"), "wide.zarr", chunks=(50, 80))
    command("diff", "3.zarr#height", "wide.zarr", "--ignore-storage")
    found = query("diff", "3.zarr#height", "wide.zarr", status=1)["differences"]
    assert [each["where"] for each in found] == [
        "/chunk_grid/configuration/chunk_shape/0",
        "/chunk_grid/configuration/chunk_shape/1",
    ]


def test_all_kinds_of_differences(here, command, query):
    root = zarr.open_group("3.zarr")
    root["height"][3, 4] += 1
    root["height"][99, 79] += 5
    root["height"].attrs["units"] = "cm"
    root["north/names"][1] = "z"
    root["north/records"][0] = (1, 2.75)
    root["north/when"][0] = "2025-01-01"
    root["north/shards"][50, 50] = 1
    del root["north/raw"]
    root.create_array("north/scalar", data=[1.0], overwrite=True)
    root.create_group("north/new")
    del root["north/temperature"]
    root.create_group("north/temperature")

    found = query("diff", "three.zip", "3.zarr", status=1)["differences"]
    places = {(each["path"], each["what"], each["where"]) for each in found}
    assert places == {
        ("/height", "metadata", "/attributes/units"),
        ("/height", "values", "[3, 4]"),
        ("/north/names", "values", "[1]"),
        ("/north/records", "values", "[0]"),
        ("/north/when", "values", "[0]"),
        ("/north/shards", "values", "[50, 50]"),
        ("/north/raw", "node", ""),
        ("/north/new", "node", ""),
        ("/north/temperature", "node", ""),
        ("/north/scalar", "metadata", "/shape"),
        ("/north/scalar", "metadata", "/chunk_grid/configuration/chunk_shape"),
    }
    shown = command("diff", "three.zip", "3.zarr", status=1)
    assert '  /attributes/units: "m" in A, "cm" in B\n' in shown
    assert "2 of 8,000 differ, first at [3, 4]: 13 in A, 14 in B; maximum difference 5" in shown
    assert "  node: array only in A\n" in shown
    assert "  node: array in A, group in B\n" in shown
    assert shown.endswith("11 differences in 11 nodes\n")
    only = query("diff", "three.zip", "3.zarr", "--meta-only", status=1)["differences"]
    assert {each["what"] for each in only} == {"node", "metadata"}


def test_tolerances(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    values = np.array([1.0, 100.0, np.nan, np.inf])
    zarr.create_array("a.zarr", data=values)
    zarr.create_array("b.zarr", data=values * (1 + 1e-6))
    assert (
        "2 of 4 differ, first at [0]: 1.0 in A, 1.000001 in B; maximum difference 0.0001"
        in command("diff", "a.zarr", "b.zarr", status=1)
    )
    command("diff", "a.zarr", "b.zarr", "--rtol", "1e-5")
    command("diff", "a.zarr", "b.zarr", "--atol", "1e-5", status=1)
    command("diff", "a.zarr", "b.zarr", "--atol", "1e-3")


def test_damaged_and_incomparable_arrays(here, command, query):
    with open("2.zarr/height/1.1", "wb") as stream:
        stream.write(b"?")
    shown = command("diff", "2.zarr#height", "3.zarr#height", "--ignore-storage", status=1)
    assert "8,000 elements at [0:100, 0:80] cannot be read" in shown
    assert "height/1.1" in shown
    with open("2.zarr/height/.zarray", "w") as stream:
        stream.write("{")
    found = query("diff", "2.zarr", "three.zip", "--meta-only", status=1)["differences"]
    [height] = [each for each in found if each["path"] == "/height"]
    assert height["message"].startswith("cannot be opened in A: ")
    zarr.create_array("texts.zarr", data=np.array(["a", "b"], np.dtypes.StringDType()))
    zarr.create_array("numbers.zarr", data=np.array([1, 2]))
    shown = command("diff", "texts.zarr", "numbers.zarr", status=1)
    assert "/data_type" in shown


def objects(*values):
    array = np.empty(len(values), object)
    for number, value in enumerate(values):
        array[number] = value
    return array


TEXT = np.dtypes.StringDType()


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (np.array([0.0, np.nan, 1.0]), np.array([-0.0, np.nan, 2.0]), [False, False, True]),
        (np.array(["NaT", "2024"], "M8[Y]"), np.array(["NaT", "2025"], "M8[Y]"), [False, True]),
        (np.array([1, 2], "i8"), np.array([1, 3], "u1"), [False, True]),
        (np.array([(1, [1.0, np.nan])], [("a", "i4"), ("b", "f8", 2)]),
         np.array([(1, [1.0, np.nan])], [("a", "i4"), ("b", "f8", 2)]), [False]),
        (np.array([(1, [1.0, 2.0])], [("a", "i4"), ("b", "f8", 2)]),
         np.array([(1, [1.0, 3.0])], [("a", "i4"), ("b", "f8", 2)]), [True]),
        (np.array([b"a", b"b"]), np.array([b"a", b"c"]), [False, True]),
        (np.array(["a", None], object), np.array(["a", "b"], object), [False, True]),
        (np.array(["\0a", "b"], TEXT), np.array(["\0b", "b"], TEXT), [True, False]),
        (objects(np.array([1, 2]), np.array([1.0, np.nan]), np.array([1]), np.nan),
         objects(np.array([1, 3]), np.array([1.0, np.nan]), np.array([1, 1]), np.nan),
         [True, False, True, False]),
        (objects([1], None), objects(np.array([1]), None), [True, False]),
    ],
)  # fmt: skip
def test_unequal(one, other, differ):
    assert unequal(one, other, Tolerance()).tolist() == differ


def test_large_arrays_are_compared_in_blocks():
    one = zarr.create_array(shape=(8000, 8000), chunks=(1000, 1000), dtype="u1")
    other = zarr.create_array(shape=(8000, 8000), chunks=(500, 4000), dtype="u1")
    other[7999, 7998] = 2
    reports = []
    result = compare(one, other, storage=False, progress=reports.append)
    [difference] = result.differences
    assert difference.where == "[7999, 7998]"
    assert reports[-1].done == 8000**2


def xarray_store(path, zarr_format, masks):
    """Arrays as xarray stores them, with a mask each."""
    root = zarr.create_group(path, zarr_format=zarr_format)
    for name, mask in masks.items():
        options = {"dimension_names": ["x"]}
        if zarr_format == 2:
            options = {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}, "fill_value": mask}
        elif mask is not None:
            options |= {"attributes": {"_FillValue": mask}}
        root.create_array(name, data=np.array([0, 1, 7], "u2"), chunks=2, **options)


def test_masks_of_xarray_in_two_versions(here, command, query):
    xarray_store("v2.zarr", 2, {"a": 7, "b": None, "c": 0})
    xarray_store("v3.zarr", 3, {"a": 7, "b": None, "c": 0})
    command("diff", "v2.zarr", "v3.zarr", "--ignore-storage")
    printed = command("diff", "v2.zarr", "v3.zarr", status=1)
    assert "dimension" not in printed.lower()
    assert "storage_transformers" not in printed
    assert printed.endswith("; the stored values are equal\n")
    assert "values" not in command("diff", "v2.zarr", "v3.zarr", "--meta-only", status=1)
    xarray_store("other.zarr", 3, {"a": None, "b": 0, "c": 1})
    found = query("diff", "v2.zarr", "other.zarr", "--ignore-storage", status=1)["differences"]
    assert [(each["path"], each["where"], each["a"], each["b"]) for each in found] == [
        ("/a", "/attributes/_FillValue", "7", ""),
        ("/b", "/attributes/_FillValue", "", "0"),
        ("/c", "/attributes/_FillValue", "0", "1"),
    ]
    assert "xarray masks 7 in A, nothing in B" in found[0]["message"]
    zarr.open_array("other.zarr", path="a", mode="r+")[0] = 5
    printed = command("diff", "v2.zarr", "other.zarr", "--ignore-storage", status=1)
    assert "values are equal" not in printed
