"""NaN in attributes, which is no JSON, as zarr-python writes it: read everywhere alike, never written."""

import json
import math
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataDecodeError, MetadataValidationError
from zarr_formats.conversion import convert

zarr_python = pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")

NUMBERS = {"nan": math.nan, "both": [math.inf, -math.inf], "one": 1}
said = pytest.warns(
    UserWarning, match=r"zarr\.json' is no JSON, by NaN or Infinity at /attributes/"
)


@pytest.fixture(params=[2, 3])
def written(request, tmp_path):
    """A group and an array with such attributes, and the number of the version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr_python.open_group(
            tmp_path / "a.zarr", mode="w", zarr_format=request.param, attributes=NUMBERS
        )
        named = {"dimension_names": ["t"]} if request.param == 3 else {}
        further = {} if named else {"_ARRAY_DIMENSIONS": ["t"]}
        array = group.create_array(
            "x", shape=(4,), chunks=(2,), dtype="f8", attributes={**NUMBERS, **further}, **named
        )
        array[:] = 1
    text = (tmp_path / "a.zarr" / ("zarr.json" if named else ".zattrs")).read_text()
    assert "NaN" in text
    return tmp_path / "a.zarr", request.param


def same(attributes):
    return math.isnan(attributes["nan"]) and attributes["both"] == NUMBERS["both"]


def quiet(version):
    """A warning is expected in version 3, where it is first read."""
    return said if version == 3 else warnings.catch_warnings()


@pytest.mark.parametrize("consolidated", [False, True])
def test_it_is_read_by_every_door(written, consolidated):
    path, version = written
    if consolidated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zarr_python.consolidate_metadata(path, zarr_format=version)
    with quiet(version):
        group = zarr.open(path)
        assert same(group.attrs)
        assert same(group["x"].attrs)
        assert same(dict(group.members())["x"].attrs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = xarray.open_dataset(path, engine="zarr_core", consolidated=consolidated)
        assert same(dataset.attrs)
        assert same(dataset["x"].attrs)
        assert same(zarr.open_array(path, path="x").attrs)


def test_it_is_not_written_in_version_3(written):
    path, version = written
    if version == 2:
        zarr.open_group(path).attrs["more"] = 1
        assert same(zarr.open_group(path).attrs)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_group(path)
        before = (path / "zarr.json").read_bytes()
        with pytest.raises(MetadataValidationError, match="/attributes/nan"):
            group.attrs["more"] = 1
        with pytest.raises(MetadataValidationError, match="/attributes/nan"):
            zarr.open_array(path, "r+", path="x").resize(6)
        with pytest.raises(MetadataValidationError, match="/attributes"):
            zarr.consolidate_metadata(path)
        assert (path / "zarr.json").read_bytes() == before
        group.attrs.update({"nan": "NaN", "both": None})
    json.loads((path / "zarr.json").read_text(), parse_constant=pytest.fail)
    assert dict(zarr.open_group(path).attrs) == {"nan": "NaN", "both": None, "one": 1}


def test_conversion_makes_strings_of_it(written):
    path, version = written
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = convert(
            path, dest := zarr.MemoryStore(), zarr_format=3, chunks=4, source_format=version
        )
    assert all("that JSON does not have become strings" in " ".join(it.notes) for it in done.steps)
    for node in (zarr.open(dest), zarr.open(dest)["x"]):
        assert node.attrs["nan"] == "NaN"
    assert np.array_equal(zarr.open(dest)["x"][...], np.ones(4))


@pytest.mark.parametrize(
    ("member", "value"),
    [("fill_value", math.nan), ("attributes", math.nan), ("acme", {"a": math.nan})],
)
def test_elsewhere_it_is_damage(tmp_path, member, value):
    array = zarr.create_array(tmp_path / "a", shape=4, dtype="f8")
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    (tmp_path / "a" / "zarr.json").write_text(json.dumps({**document, member: value}))
    with pytest.raises(MetadataDecodeError, match=f"/{member}.*NaN is not JSON"):
        zarr.open(tmp_path / "a")
    assert array.shape == (4,)
