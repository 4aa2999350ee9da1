"""HTML of arrays, groups and attributes."""

import re
import xml.etree.ElementTree

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import FaultyStore
from zarr_core.definition import ExtensionDefinition
from zarr_core.extension import BytesToBytesCodec
from zarr_display.codec_origins import encoders

HOSTILE = "<img src=x onerror=alert(1)>\"'&\u202e\ud800\x00\n"


def parsed(html):
    """The page that a browser would see; that it is well-formed is stricter than need be."""
    return xml.etree.ElementTree.fromstring(html.encode())


def said(html):
    return " ".join("".join(parsed(html).itertext()).split())


def rows(html):
    """Texts of the cells by the name of the row, of all tables."""
    return {
        "".join(line.find("th").itertext()): ["".join(it.itertext()) for it in line.iter("td")]
        for line in parsed(html).iter("tr")
        if line.find("td") is not None
    }


@pytest.fixture
def store():
    return CountingStore(zarr.MemoryStore())


def test_array_html_does_not_access_the_store(store):
    array = zarr.create_array(
        store, path="air/t2m", shape=(365, 180, 360), chunks=(30, 45, 60), shards=(120, 90, 180),
        dtype="float32", fill_value=np.nan, compressors=["gzip", "crc32c"],
        dimension_names=["time", None, "lon"], attributes={"units": "K"},
    )  # fmt: skip
    store.calls.clear()
    html = array._repr_html_()
    assert not store.calls
    assert len(html) < 30_000
    found = rows(html)
    assert found["Shape"] == ["time: 365 x 180 x lon: 360", "120 x 90 x 180", "30 x 45 x 60"]
    assert found["Bytes"] == ["90.2 MiB", "7.4 MiB", "316.4 KiB"]
    assert found["Count"] == ["23,652,000 elements", "16", "312"]
    assert (found["Data type"], found["Fill value"]) == (["float32"], ["nan"])
    assert found["units"] == ["K"]
    assert re.fullmatch(
        r'sharding_indexed\(index_location="end"\) by zarr-sharding \S+'
        r'bytes\(endian="little"\) by zarr-core [\d.]+'
        r"gzip\(level=5\) by zarr-codecs [\d.]+"
        r"crc32c by zarr-codecs [\d.]+",
        found["Encoded by"][0],
    )
    assert "chunks of time 365 by 180 by lon 360" in html
    assert " id=" not in html  # several objects stand on one page


def test_chunks_of_different_lengths():
    array = zarr.create_array(shape=(100, 60), chunks=[[10, 90], [5, 5, 50]], dtype="int8")
    found = rows(array._repr_html_())
    assert found["Shape"] == ["100 x 60", "(10, 90) x (5, 5, 50)"]
    assert found["Bytes"] == ["5.9 KiB", ""]


@pytest.mark.parametrize("shape", [(), (0,), (5, 0, 3), (1,) * 20])
def test_unusual_shapes(shape):
    array = zarr.create_array(shape=shape, dtype="int8")
    assert rows(array._repr_html_())["Count"][1] == str(array.nchunks)


def test_ignored_extensions_are_shown_first():
    store = zarr.MemoryStore()
    array = zarr.create_array(store, shape=4, compressors=None)
    stranger = ExtensionDefinition("acme.<unknown>", {}, must_understand=False)
    metadata = array.metadata.replace(codecs=(*array.codecs, stranger))
    store.set("zarr.json", metadata.to_stored()[0])
    with pytest.warns(UserWarning, match=r"acme\.<unknown>"):
        array = zarr.open_array(store)
    html = array._repr_html_()
    assert "Unknown extensions are ignored (must_understand is false): acme.<unknown>" in said(html)
    assert html.index("Unknown extensions are ignored") < html.index("<table")


class Shout(BytesToBytesCodec):
    """A codec without a distribution."""

    def encode(self, data, decoded_size):
        return data

    def decode(self, data, decoded_size):
        return data


def test_origin_is_that_of_the_codec_in_use():
    with zarr.override_extensions({"codec": {"gzip": Shout}}):
        array = zarr.create_array(shape=4, compressors=[Shout()])
    assert [it.name for it in encoders(array.stored)] == ["bytes", "gzip"]
    assert "zarr-codecs " not in encoders(array.stored)[1].origin
    array = zarr.create_array(shape=4, compressors=["crc32c"])
    with zarr.override_extensions({"codec": {"crc32c": Shout}}):
        # The array goes on with the code that it has.
        assert encoders(array.stored)[1].origin == "zarr_codecs"


def test_names_and_values_are_escaped():
    group = zarr.create_group(attributes={"<script>a</script>": HOSTILE, "deep": {"a": [HOSTILE]}})
    document = zarr.create_array(
        shape=2, dimension_names=[HOSTILE], dtype="int8", attributes={"x": HOSTILE * 900}
    )
    group.create_array("<script>alert(1)<", shape=3)
    plain = zarr.create_array(shape=3)._repr_html_()
    for shown in (group, group.attrs, group.tree(), document, document.attrs, document.info):
        html = shown._repr_html_()
        parsed(html)  # also: no sign that no file can hold, no stray quote
        names = {it.tag for it in parsed(html).iter()} - {it.tag for it in parsed(plain).iter()}
        assert not names & {"img", "script"}
        assert "\u202e" not in html
        assert len(html) < 30_000
    assert r"\u202e\ud800\x00\n" in said(document._repr_html_())


def test_attributes():
    group = zarr.create_group(attributes={"n": 1, "long": "word " * 100, "tree": {"a": [1] * 90}})
    found = rows(group.attrs._repr_html_())
    assert found["n"] == ["1"]
    assert found["long"][0].count("word") == 18 + 100  # in the line that is folded, then all
    assert '"a": [\n' in found["tree"][0]
    many = zarr.create_group(attributes={f"n{i}": i for i in range(80)}).attrs
    found = rows(many._repr_html_())
    assert (len(found), found["…"]) == (51, ["30 more"])
    assert said(zarr.create_group().attrs._repr_html_()) == "no attributes"


@pytest.fixture
def root(store):
    root = zarr.create_group(store)
    root.create_array("a", shape=(2, 3), dtype="int8", dimension_names=["y", None])
    root.create_array("b/c/d", shape=4, dtype="float32")
    root.create_group("b/e")
    for number in range(40):
        root.create_array(f"many/n{number:02}", shape=1, dtype="int8")
    store.calls.clear()
    return root


def unfolded(element):
    """A nested list as lists in lists of what its lines say."""
    lines = []
    for item in element.find("ul"):
        inner = item.find("details")
        if inner is None:
            lines.append("".join(item.itertext()))
        else:
            lines.append({"".join(inner.find("summary").itertext()): unfolded(inner)})
    return lines


def test_group_shows_its_first_members(root, store):
    tree = unfolded(parsed(root._repr_html_()))
    numbers = [f"n{number:02} (1) int8" for number in range(30)]
    assert tree == ["a (y: 2, 3) int8", {"b": ["c", "e"]}, {"many": [*numbers, "..."]}]
    assert store.count("list_dir") == 3
    assert store.count() <= 3 + 3 + 2 + 31  # one document each


def test_members_of_remote_stores_are_not_requested(root, store):
    store.max_concurrency = 8
    assert "not listed" in said(root._repr_html_())
    assert not store.calls
    zarr.consolidate_metadata(store)
    near = zarr.open_consolidated(store, mode="r")
    store.calls.clear()
    assert unfolded(parsed(near._repr_html_()))[1] == {"b": [{"c": ["d (4) float32"]}, "e"]}
    assert not store.calls


def test_deep_tree(root):
    tree = unfolded(parsed(root.tree()._repr_html_()))
    assert tree[1] == {"b": [{"c": ["d (4) float32"]}, "e"]}
    assert len(tree[2]["many"]) == 40
    assert "open=" not in root.tree()._repr_html_()  # there are many
    assert "open=" in root["b"].tree()._repr_html_()
    assert unfolded(parsed(root.tree(1)._repr_html_()))[1:] == ["b", "many"]


def test_truncated_tree(root):
    document = root.store.get("a/zarr.json")
    for number in range(600):
        root.store.set(f"many/z{number:03}/zarr.json", document)
    assert "more than 500 nodes" in said(root.tree()._repr_html_())
    assert len(root.tree()._repr_html_()) < 500_000


def test_array_with_unknown_grid_is_in_the_tree(root):
    document = root.store.get("a/zarr.json").replace(b'"regular"', b'"acme.spiral"')
    root.store.set("a/zarr.json", document)
    assert "a (y: 2, 3) int8" in said(root.tree()._repr_html_())
    assert said(zarr.create_group()._repr_html_()).endswith("no members")


def test_damaged_members_do_not_hide_others(root, store):
    store.set("b/zarr.json", b"{")
    store.set("many/n01/zarr.json", b'{"zarr_format": 3, "node_type": "array"}')
    tree = unfolded(parsed(root._repr_html_()))
    assert tree[:2] == ["a (y: 2, 3) int8", "b (cannot be read)"]
    assert tree[2]["many"][:3] == ["n00 (1) int8", "n01 (cannot be read)", "n02 (1) int8"]
    store.inner = FaultyStore(store.inner, fail_at=1, forever=True)
    assert "the members cannot be listed" in said(root._repr_html_())


def test_info(store):
    array = zarr.create_array(store, path="x", shape=(4, 6), dtype="int16")
    store.calls.clear()
    for info in (array.info, zarr.create_group().info):
        assert len(list(parsed(info._repr_html_()).iter("tr"))) == len(info)
    assert rows(array.info._repr_html_())["Shape"] == ["4 x 6"]
    assert not store.calls


def test_damaged_members_are_in_the_tree(root, store):
    store.set("b/c/zarr.json", b"{")
    assert "c (cannot be read)" in said(root.tree()._repr_html_())


def test_members_from_consolidated_metadata(root, store):
    zarr.consolidate_metadata(store)
    group = zarr.open_consolidated(store, mode="r")
    store.calls.clear()
    assert "d (4) float32" in said(group._repr_html_())
    assert not store.calls


def test_times_without_a_unit():
    unit = {"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}}
    array = zarr.create_array(shape=8, dtype=unit, fill_value=5)
    assert rows(array._repr_html_())["Fill value"] == ["5"]


def test_extensions_of_the_array_are_used():
    class Reversed(BytesToBytesCodec):
        def encode(self, data, decoded):
            return bytes(data)[::-1]

        decode = encode

    with zarr.override_extensions({"codec": {"acme.reversed": Reversed}}):
        array = zarr.create_array(shape=4, compressors="acme.reversed")
    assert "acme.reversed by this process" in said(array._repr_html_())
