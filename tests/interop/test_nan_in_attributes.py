"""NaN and infinities in attributes, which are not valid JSON, as zarr-python writes them.

They can be read, and are preserved when other values change.  zarr_core does not write new
ones; zarr-compat and zarr-xarray do, as zarr-python does.
"""

import json
import math
import string
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from xarray_writers import by_zarr_compat, by_zarr_python, by_zarr_xarray
from zarr_core.errors import AttributeValueError, MetadataDecodeError, MetadataValidationError
from zarr_transfer import convert

zarr_python = pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")

NUMBERS = {"nan": math.nan, "both": [math.inf, -math.inf], "one": 1}
said = pytest.warns(UserWarning, match=r"zarr\.json' contains NaN or Infinity at '/attributes/")


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
    """Expects a warning in version 3 for the first read."""
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


def tokens(path, version, node=""):
    """The stored text of the attributes, with all tokens of NaN and infinity."""
    text = (path / node / ("zarr.json" if version == 3 else ".zattrs")).read_text()
    return text[text.index('"nan"') : text.index('"one"')]


def changes(path, version):
    """All changes of a node, its members or its attributes, except those with NaN."""
    group = zarr.open_group(path, "r+")
    group.attrs["more"] = [1, "\u00e9"]
    group.update_attributes({"one": 2})
    del group.attrs["more"]
    array = zarr.open_array(path, "r+", path="x")
    array.attrs.put({**array.attrs.asdict(), "further": {"a": 1}})
    array.resize(6)
    array.append(np.full(2, 3.0))
    yield "group and array"
    zarr.consolidate_metadata(path, zarr_format=version)
    group = zarr.open_group(path, "r+")
    group["x"].attrs["again"] = True
    group["x"].resize(8)
    group.create_array("y", shape=3, dtype="i4")
    assert str(zarr.check_consolidated(group)) == "up to date"
    yield "consolidated"
    zarr.copy(group["x"], group, "copied")
    zarr.copy(group["x"], group, "laid_out", chunks=(3,))
    group.move("x", "moved")
    group.move("moved", "x")
    zarr.copy_all(group, zarr.create_group(path.parent / "all.zarr", zarr_format=version))
    yield "copied and moved"


@pytest.mark.usefixtures("silent")
def test_changes_keep_what_was_there(written):
    path, version = written
    before = tokens(path, version), tokens(path, version, "x")
    for _ in changes(path, version):
        assert (tokens(path, version), tokens(path, version, "x")) == before
        theirs = zarr_python.open_group(path, mode="r")
        for node in (theirs, theirs["x"]):
            assert same(node.attrs)
    assert theirs["x"].shape == (8,)
    assert theirs["x"][:].tolist() == [1, 1, 1, 1, 0, 0, 3, 3][:8]
    assert theirs["x"].attrs["further"] == {"a": 1}
    for name in ("a.zarr/copied", "a.zarr/laid_out", "all.zarr", "all.zarr/x"):
        assert same(zarr_python.open(path.parent / name, mode="r").attrs)
        assert same(zarr.open(path.parent / name).attrs)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("new", [math.nan, -math.inf, [math.nan], {"a": np.float32("inf")}])
def test_no_new_one_is_stored(written, new):
    path, _ = written
    for node in (zarr.open_group(path, "r+"), zarr.open_array(path, "r+", path="x")):
        before = node.attrs.asdict()
        for name in ("one", "new", "both"):
            with pytest.raises(AttributeValueError, match=f"/attributes/{name}"):
                node.attrs[name] = new
        with pytest.raises(AttributeValueError, match="/attributes/both/1"):
            node.attrs.update({"nan": math.nan, "both": [math.inf, math.inf]})
        with pytest.raises(AttributeValueError, match="/attributes/other"):
            node.attrs.put({"other": node.attrs["nan"]})
        node.attrs.update({"nan": math.nan, "one": 7})
        assert str(node.attrs) == str({**before, "one": 7})
        assert type(node.attrs["nan"]) is float
        assert type(node.attrs["both"][0]) is float
    with pytest.raises(AttributeValueError, match="/attributes/a"):
        zarr.create_group({}, attributes={"a": new})
    metadata = zarr.open_array(path, path="x").metadata.replace(attributes={"a": math.nan})
    with pytest.raises(MetadataValidationError, match="/attributes/a"):
        metadata.to_stored()


@pytest.mark.usefixtures("silent")
def test_other_values_repair_the_document(written):
    path, version = written
    group = zarr.open_group(path, "r+")
    group.attrs.update({"nan": "NaN", "both": None})
    text = (path / ("zarr.json" if version == 3 else ".zattrs")).read_text()
    json.loads(text, parse_constant=pytest.fail)
    assert dict(zarr.open_group(path).attrs) == {"nan": "NaN", "both": None, "one": 1}


def deep(name):
    leaves = st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=5))
    return st.dictionaries(
        st.text(string.ascii_letters, min_size=1, max_size=4),
        st.recursive(
            leaves,
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        max_size=4,
    ).map(lambda found: {name: math.nan, **found})


@given(deep("a"), deep("b"))
@pytest.mark.filterwarnings("ignore")
def test_any_values_are_kept_to_the_byte(first, second):
    """Metadata of zarr-python with any attributes; one attribute is added and removed."""
    store = zarr.MemoryStore()
    root = zarr.create_group(store, attributes={})
    document = json.loads(bytes(store.get("zarr.json")))
    document["attributes"] = first
    document["consolidated_metadata"] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": {"g": {"zarr_format": 3, "node_type": "group", "attributes": second}},
    }
    text = json.dumps(document, indent=2, ensure_ascii=False).encode()
    store.set("zarr.json", text)
    root.refresh()
    root.attrs["new one"] = 1
    assert bytes(store.get("zarr.json")) != text
    again = zarr.open_group(store, "r+")
    again.attrs.put({name: value for name, value in again.attrs.items() if name != "new one"})
    assert bytes(store.get("zarr.json")) == text


# --- xarray ---


def dataset(length=4, start=0):
    attributes = {"nan": math.nan, "both": [math.inf, -math.inf], "one": 1}
    values = np.arange(start, start + length, dtype="f8")
    found = xarray.Dataset(
        {"x": ("t", values, attributes)}, {"t": np.arange(start, start + length)}, attributes
    )
    if not start:  # xarray rejects it for appended data
        found["x"].attrs["missing_value"] = math.nan
    return found


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(
    ("write", "append"),
    [
        (by_zarr_python, by_zarr_xarray),
        (by_zarr_python, by_zarr_compat),
        (by_zarr_xarray, by_zarr_python),
        (by_zarr_compat, by_zarr_python),
        (by_zarr_compat, by_zarr_compat),
        (by_zarr_xarray, by_zarr_xarray),
    ],
)
def test_xarray_appends_to_it(tmp_path, version, write, append):
    path = tmp_path / "a.zarr"
    write(dataset(), path, zarr_format=version)
    append(dataset(3, 4), path, append_dim="t")
    expected = xarray.concat(
        [dataset(), dataset(3, 4)], "t", data_vars="minimal", combine_attrs="override"
    )
    for engine in ("zarr", "zarr_core"):
        for consolidated in (True, False):
            with xarray.open_dataset(path, engine=engine, consolidated=consolidated) as found:
                np.testing.assert_array_equal(found["x"].values, expected["x"].values)
                assert same(found.attrs)
                assert same(found["x"].attrs)
                if write is not by_zarr_xarray:  # omitted, because it has no meaning
                    kept = {**found["x"].attrs, **found["x"].encoding}
                    assert math.isnan(kept["missing_value"])


@pytest.mark.usefixtures("silent")
def test_zarr_compat_stores_the_same_as_zarr_python(tmp_path):
    from zarr_compat import api

    def write(library, path):
        group = library.open_group(path, mode="w", attributes=dict(NUMBERS))
        group.attrs["a"] = {"b": [math.nan]}
        group.attrs.update({"c": np.float64("inf")})
        group.update_attributes({"d": -math.inf})
        array = group.create_array("x", shape=(3,), dtype="i4", attributes={"e": math.nan})
        array.attrs.put({"f": [math.inf], "g": True})
        member = group.create_group("m", attributes=dict(NUMBERS))
        assert math.isnan(member.attrs["nan"])
        return [
            json.loads((path / name / "zarr.json").read_text())["attributes"]
            for name in ("", "x", "m")
        ]

    assert str(write(api, tmp_path / "ours")) == str(write(zarr_python, tmp_path / "theirs"))


def test_conversion_to_another_format_makes_strings_of_it(written):
    path, version = written
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = convert(
            path, dest := zarr.MemoryStore(), zarr_format=3, chunks=4, source_format=version
        )
        nodes = (zarr.open(dest), zarr.open(dest)["x"])
    if version == 3:  # kept, as by a copy
        assert all(math.isnan(node.attrs["nan"]) for node in nodes)
    else:
        note = "that JSON does not have become strings"
        assert all(note in " ".join(it.notes) for it in done.steps)
        assert all(node.attrs["nan"] == "NaN" for node in nodes)
    assert np.array_equal(zarr.open(dest)["x"][...], np.ones(4))


@pytest.mark.parametrize(
    ("member", "value"),
    [("fill_value", math.nan), ("attributes", math.nan), ("acme", {"a": math.nan})],
)
def test_elsewhere_it_is_damage(tmp_path, member, value):
    array = zarr.create_array(tmp_path / "a", shape=4, dtype="f8")
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    (tmp_path / "a" / "zarr.json").write_text(json.dumps({**document, member: value}))
    with pytest.raises(MetadataDecodeError, match=f"/{member}.*NaN is not valid JSON"):
        zarr.open(tmp_path / "a")
    assert array.shape == (4,)
