"""Copying and renaming keys, independent of their meaning."""

import re

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from unlisted_store import UnlistedStore
from zarr_core.errors import NodeExistsError, NodeNotFoundError, StoreCapabilityError


@pytest.fixture
def root():
    root = zarr.create_group()
    root.create_array("g/a", data=np.arange(6), chunks=2, shards=4, attributes={"n": 1})
    root.create_group("g/empty", attributes={"m": 2})
    root.create_array("b", data=np.arange(4.0), chunks=2)
    root.store.set("g/readme.txt", b"notes")
    return root


def contents(store, prefix=""):
    return {key[len(prefix) :]: bytes(store.get(key)) for key in store.list_prefix(prefix)}


def test_keys_are_copied_from_store_to_store(root, tmp_path):
    source = contents(root.store)
    done = zarr.copy_store(root.store, tmp_path / "x")
    assert done == (len(source), 0, sum(map(len, source.values())))
    assert (done.copied, done.skipped, done.nbytes) == done
    assert contents(zarr.LocalStore(tmp_path / "x")) == source
    target: dict[str, bytes] = {}
    zarr.copy_store(root.store, target, "g", "p/q")
    assert {key: bytes(value) for key, value in target.items()} == {
        f"p/q/{key}": value for key, value in contents(root.store, "g/").items()
    }
    for misspelt in ((tmp_path / "y", {}), (root.store, {}, "x")):
        with pytest.raises(NodeNotFoundError, match="nothing to copy; check the path"):
            zarr.copy_store(*misspelt)
    assert zarr.copy_store({}, {}) == (0, 0, 0)
    again: dict[str, bytes] = {}
    zarr.copy_store(root["g"], again, "a")
    assert again["c/0"] == source["g/a/c/0"]


def test_keys_that_are_there(root):
    source = contents(root.store)
    dest = zarr.MemoryStore({"b/c/0": b"other", "zarr.json": source["zarr.json"], "own": b"1"})
    before = contents(dest)
    with pytest.raises(NodeExistsError, match=r"'b/c/0': exists already"):
        zarr.copy_store(root.store, dest)
    assert contents(dest) == before
    assert zarr.copy_store(root.store, dest, if_exists="skip")[:2] == (len(source) - 2, 2)
    assert contents(dest) == source | {"b/c/0": b"other", "own": b"1"}
    assert zarr.copy_store(root.store, dest, if_exists="update") == (
        1, len(source) - 1, len(source["b/c/0"]),
    )  # fmt: skip
    assert contents(dest) == source | {"own": b"1"}
    assert zarr.copy_store(root.store, dest, if_exists="replace")[:2] == (len(source), 0)
    dest.set("b/c/0", bytes(len(source["b/c/0"])))
    assert zarr.copy_store(root.store, dest, if_exists="update").copied == 1
    with pytest.raises(ValueError, match="if_exists must be"):
        zarr.copy_store(root.store, {}, if_exists="maybe")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"excludes": "^g/"}, "b/c/0 b/c/1 b/zarr.json zarr.json"),
        ({"excludes": ["^g/", "/c/"]}, "b/zarr.json zarr.json"),
        (
            {"excludes": ["^g/", "/c/"], "includes": ["README", r"c/1$"], "flags": re.IGNORECASE},
            "b/c/1 b/zarr.json g/a/c/1 g/readme.txt zarr.json",
        ),
        ({"excludes": "", "includes": "nothing"}, ""),
        ({"includes": "readme"}, None),  # which is not reverted
        ({"excludes": None, "includes": None}, None),
        ({"excludes": "^c/", "source_path": "b"}, "c/0 c/1 zarr.json"),  # whole keys are searched
    ],
)
def test_keys_that_are_omitted(root, options, expected):
    target: dict[str, bytes] = {}
    zarr.copy_store(root.store, target, **options)
    assert sorted(target) == (sorted(root.store.list()) if expected is None else expected.split())


def test_dry_run(root):
    dest = {"p/c/1": b""}
    lines: list[str] = []
    done = zarr.copy_store(
        root.store, dest, "b", "p", if_exists="skip", dry_run=True, log=lines.append
    )
    assert done == (2, 1, 0)
    assert dest == {"p/c/1": b""}
    assert lines == [
        "copy b/c/0 -> p/c/0", "skip b/c/1 -> p/c/1", "copy b/zarr.json -> p/zarr.json",
        "dry run: 2 copied, 1 skipped",
    ]  # fmt: skip
    seen: list[zarr.Progress] = []
    lines.clear()
    zarr.copy_store(root.store, dest, "b", "b", log=lines.append, progress=seen.append)
    assert lines[0] == "copy b/c/0"
    assert lines[-1].startswith("all done: 3 copied, 0 skipped, ")
    assert (seen[-1].done, seen[-1].total, seen[-1].path) == (3, 3, "b")


@pytest.mark.parametrize("zarr_format", [2, 3, "draft", "draft-2021", "n5"])
@pytest.mark.parametrize("requests", [None, 8])
def test_documents_come_last(zarr_format, requests):
    root = zarr.create_group(zarr_format=zarr_format, attributes={"t": 1})
    for path in ("g/h/a", "g/b"):
        root.create_array(path, data=np.arange(4), chunks=2, attributes={"n": 1})
    dest = CountingStore(zarr.MemoryStore())
    dest.max_concurrency = requests
    zarr.copy_store(root.store, dest)
    order = dest.keys("set")
    chunks = [number for number, key in enumerate(order) if key[-1].isdecimal()]
    assert len(chunks) == 4
    assert max(chunks) == 3
    at = {key: number for number, key in enumerate(order)}
    if zarr_format == 2:
        assert at["g/b/.zattrs"] < at["g/b/.zarray"] < at["g/.zgroup"] < at[".zgroup"]
    elif zarr_format == 3:
        assert at["g/h/a/zarr.json"] < at["g/h/zarr.json"] < at["g/zarr.json"] < at["zarr.json"]
    else:
        assert min(at, key=lambda key: -at[key]) in ("zarr.json", "attributes.json")


def test_a_store_that_cannot_be_listed(root):
    with pytest.raises(StoreCapabilityError, match="cannot list"):
        zarr.copy_store(UnlistedStore(), {})
    dest = UnlistedStore()
    zarr.copy_store(root.store, dest, "b")
    with pytest.raises(NodeExistsError):
        zarr.copy_store(root.store, dest, "b")
    dest.erase("c/1")
    assert zarr.copy_store(root.store, dest, "b", if_exists="update")[:2] == (1, 2)


# --- any keys ---

names = st.text("ab.zarjson", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
keys = st.lists(names, min_size=1, max_size=3).map("/".join)


@settings(max_examples=60, deadline=None)
@given(
    source=st.dictionaries(keys, st.binary(max_size=9), max_size=12),
    dest=st.dictionaries(keys, st.binary(max_size=9), max_size=4),
    path=st.sampled_from(["", "q", "q/r"]),
    choice=st.sampled_from(["replace", "skip", "update"]),
    requests=st.sampled_from([None, 4]),
)
def test_any_keys(source, dest, path, choice, requests):
    prefix = f"{path}/" if path else ""
    copies = {prefix + key: value for key, value in source.items()}
    store = zarr.MemoryStore(dict(dest))
    store.max_concurrency = requests
    done = zarr.copy_store(dict(source), store, dest_path=path, if_exists=choice)
    assert contents(store) == (copies | dest if choice == "skip" else dest | copies)
    assert done.copied + done.skipped == len(source)
    assert zarr.getsize(store) == sum(map(len, contents(store).values()))
    if copies and path:
        zarr.rmdir(store, path)
        assert not list(store.list_prefix(prefix))


KEYS = ["g/x", "g/h/x", "g/h/h/x"]


@pytest.mark.parametrize("if_exists", ["replace", "skip", "update"])
@pytest.mark.parametrize(("source", "dest"), [("g", "g/h"), ("g/h", "g"), ("", "g"), ("g/h", "")])
@pytest.mark.parametrize("roots", [False, True])
def test_copies_never_replace_what_is_copied(tmp_path, source, dest, if_exists, roots):
    store = zarr.LocalStore(tmp_path)
    for key in KEYS if source else [*KEYS, "x", "h/x"]:
        store.set(key, key.encode())
    there = {key: bytes(store.get(key)) for key in store.list()}
    places = [tmp_path / source, tmp_path / dest] if roots else [store, store, source, dest]
    if (source, dest) == ("g/h", ""):  # which contains h/x and h/h/x, but is not a destination
        store.set("h/h/x", b"old")
        zarr.copy_store(*places, if_exists=if_exists)
        assert bytes(store.get("x")) == b"g/h/x"
    else:
        with pytest.raises(NodeExistsError, match="copied themselves, such as .*excludes="):
            zarr.copy_store(*places, if_exists=if_exists)
    assert {key: bytes(store.get(key)) for key in there} == there


def test_a_copy_below_its_source_is_created_again_without_itself():
    store = zarr.MemoryStore({"a": b"1", "b/c": b"2"})
    for _ in range(2):
        zarr.copy_store(store, store, "", "saved", excludes="^saved/", if_exists="update")
    assert sorted(store.list()) == ["a", "b/c", "saved/a", "saved/b/c"]
    assert zarr.copy_store(store, store, if_exists="update").skipped == 4
