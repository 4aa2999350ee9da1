"""Manifests: digests in every store, files, and planted faults."""

import hashlib
import json
import random
import shutil
import subprocess
import zipfile
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from unlisted_store import UnlistedStore
from zarr_core.extension import NodeNotFoundError, StoreError, StoreReadOnlyError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_stores.fsspec import FsspecStore
from zarr_stores.integrity.manifest import (
    Manifest,
    create_manifest,
    hash_values,
    read_manifest,
    write_manifest,
)
from zarr_stores.integrity.verify import verify
from zarr_stores.zip import ZipStore

ROOT = Path(__file__).parents[2]


SCHEMAS = ROOT / "schemas/manifest"


def hierarchy(seed=0):
    """Return the keys and values of a small hierarchy."""
    rng = np.random.default_rng(seed)
    values = {}
    group = zarr.create_group(MemoryStore(values), zarr_format=int(rng.integers(2, 4)))
    for number in range(int(rng.integers(1, 3))):
        shape = tuple(int(it) for it in rng.integers(1, 12, int(rng.integers(1, 3))))
        options = {"chunks": tuple(int(it) for it in rng.integers(1, 7, len(shape)))}
        if group.stored.format.name == "v3" and rng.random() < 0.3:
            options["shards"] = tuple(2 * it for it in options["chunks"])
        array = group.create_array(f"a{number}", shape=shape, dtype="int32", **options)
        array[...] = rng.integers(1, 2**31, shape)
    return {key: bytes(value) for key, value in values.items()}


def digest_as_documented(values):
    """Compute the digest by the description in the schema, without the code of the package."""
    lines = [
        {"key": key, "size": len(value), "sha256": hashlib.sha256(value).hexdigest()}
        for key, value in sorted(values.items())
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return hashlib.sha256(text.encode()).hexdigest()


# --- digests ---


def test_the_digest_is_as_documented():
    for count in (0, 1, 3000):
        values = {f"c/\xe9 {number}": str(number).encode() for number in range(count)}
        assert create_manifest(MemoryStore(values)).digest == digest_as_documented(values)


def test_the_digest_is_the_same_in_every_store(tmp_path):
    values = hierarchy(1)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for key, value in reversed(values.items()):
            archive.writestr(key, value)
    stores = [
        MemoryStore(dict(values)),
        LocalStore(tmp_path / "a.zarr"),
        SQLiteStore(str(tmp_path / "a.sqlite")),
    ]
    for store in stores[1:]:
        for key, value in values.items():
            store.set(key, value)
    stores.append(ZipStore(str(tmp_path / "a.zip"), read_only=True))
    assert {create_manifest(store).digest for store in stores} == {digest_as_documented(values)}
    manifest = create_manifest(stores[0])
    assert all(verify(store, manifest).is_sound for store in stores)


def test_the_digest_of_a_node_does_not_depend_on_its_path():
    values = hierarchy(2)
    moved = {f"x/y/{key}": value for key, value in values.items()}
    assert create_manifest(MemoryStore(moved), "x/y").digest == digest_as_documented(values)
    below = {key[3:]: value for key, value in values.items() if key.startswith("a0/")}
    assert create_manifest(MemoryStore(values)).below("a0").digest == digest_as_documented(below)


def test_a_small_value_is_hashed_with_one_request():
    requests = []

    def respond(request):
        requests.append(request.method)
        return 200, {}, b"abc"

    with responding(respond) as server:
        hashed = hash_values(FsspecStore.from_url(server.url), ["a"])
    assert hashed["a"].size == 3
    assert requests == ["GET"]


def test_a_large_value_is_hashed_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("zarr_stores.integrity.manifest._LARGE", 1000)
    monkeypatch.setattr("zarr_stores.integrity.manifest._PART", 300)
    store = LocalStore(tmp_path)
    store.set("a", bytes(range(256)) * 9)
    assert create_manifest(store)["a"] == (2304, hashlib.sha256(bytes(range(256)) * 9).hexdigest())


# --- files ---


def test_a_manifest_is_json_lines_with_the_published_schemas(tmp_path):
    values = hierarchy(3) | {'a/ü "\n/c': b"", "a/\U0001f600": b"1"}
    manifest = create_manifest(MemoryStore(values))
    manifest.write(tmp_path / "m.jsonl")
    header, *entries = map(json.loads, (tmp_path / "m.jsonl").read_text("ascii").splitlines())
    jsonschema.validate(header, json.loads((SCHEMAS / "header.json").read_bytes()))
    schema = json.loads((SCHEMAS / "entry.json").read_bytes())
    for entry in entries:
        jsonschema.validate(entry, schema)
        assert entry["sha256"] == hashlib.sha256(values[entry["key"]]).hexdigest()
    assert [entry["key"] for entry in entries] == sorted(values)
    assert header["digest"] == digest_as_documented(values)
    assert Manifest.read(tmp_path / "m.jsonl") == manifest


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="sha256sum is not installed")
def test_sha256sum_computes_the_digest_and_verifies_the_entries(tmp_path):
    for key, value in hierarchy(4).items():
        LocalStore(tmp_path / "a.zarr").set(key, value)
    manifest = create_manifest(tmp_path / "a.zarr")
    manifest.write(tmp_path / "m.jsonl")
    digest = subprocess.check_output("tail -n +2 m.jsonl | sha256sum", shell=True, cwd=tmp_path)
    assert digest.split()[0].decode() == manifest.digest
    lines = "".join(f"{manifest[key].sha256}  {key}\n" for key in manifest)
    run = subprocess.run(
        ["sha256sum", "--check", "--quiet"],
        cwd=tmp_path / "a.zarr",
        input=lines,
        text=True,
        check=False,
    )
    assert run.returncode == 0


def test_a_damaged_manifest_is_an_error(tmp_path):
    manifest = create_manifest(MemoryStore(hierarchy(5)))
    file = tmp_path / "m.jsonl"
    good = manifest.encode()
    some = next(iter(manifest))
    for bad, message in (
        (good.replace(b'"size":', b'"size":1', 1), "damaged"),
        (good.replace(b'"keys":', b'"keys":1', 1), "damaged"),
        (b"\n".join(good.split(b"\n")[:-2]) + b"\n", "damaged"),
        (good[:-1], "incomplete"),
        (good.replace(b'_manifest":1', b'_manifest":2'), "version 2"),
        (good.replace(manifest[some].sha256.encode(), b"12"), "is not a key with size"),
        (good.replace(b'"%s"' % manifest[some].sha256.encode(), b"null"), "is not a key with size"),
        (b"{}\n", "zarr_manifest"),
        (b"\xff\n", "JSON lines"),
        (b"", "zarr_manifest|JSON lines|incomplete"),
        (b"[" * 100_000 + b"\n", "JSON lines"),
    ):
        file.write_bytes(bad)
        with pytest.raises(StoreError, match=message):
            Manifest.read(file)


# --- manifests in the store ---


def test_a_stored_manifest_is_found_from_below():
    values = hierarchy(6)
    store = MemoryStore(dict(values))
    with pytest.raises(NodeNotFoundError, match=r"manifest .*not found.*digest LOCATION --store"):
        verify(store)
    manifest = write_manifest(store)
    assert manifest.digest == digest_as_documented(values)
    assert verify(store).is_sound
    assert verify(store, path="a0").digest == manifest.below("a0").digest
    store.set("a0/stray", b"")
    assert [it.key for it in verify(store, path="a0").problems] == ["stray"]
    assert [it.key for it in verify(store).problems] == ["a0/stray"]


def test_a_manifest_is_replaced_after_all_values_were_read():
    store = MemoryStore(hierarchy(7))
    manifest = write_manifest(store)
    store.set("new", b"1")

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_manifest(store, progress=interrupt)
    assert read_manifest(store) == manifest
    assert write_manifest(store) == read_manifest(store) == create_manifest(store) != manifest
    with pytest.raises(StoreReadOnlyError, match="the manifest cannot be stored"):
        write_manifest(MemoryStore(read_only=True))


def test_a_manifest_that_is_replaced_while_values_are_read_is_an_error():
    store = MemoryStore(hierarchy(7))
    write_manifest(store)

    def change(_):
        store.set(next(iter(store.list_prefix("a0/"))), b"new")
        write_manifest(store)

    with pytest.raises(StoreError, match="replaced while the values were read; verify again"):
        verify(store, path="a0", progress=change)


# --- planted faults ---


def plant(values, rng):
    """Damage a hierarchy; return the keys that differ."""
    chunks = [key for key in values if "json" not in key and ".z" not in key and values[key]]
    key, other = rng.choice(chunks), rng.choice(chunks)
    kind = rng.choice(["flip", "truncate", "swap", "lose", "stale", "stray", "metadata"])
    if kind == "flip":
        value = bytearray(values[key])
        value[rng.randrange(len(value))] ^= 1 << rng.randrange(8)
        values[key] = bytes(value)
    elif kind == "truncate":
        values[key] = values[key][: rng.randrange(len(values[key]))]
    elif kind == "swap":
        if values[key] == values[other]:
            return set()
        values[key], values[other] = values[other], values[key]
        return {key, other}
    elif kind == "lose":
        del values[key]
    elif kind == "stale":  # as another state of the array had it
        stale = zarr.create_array(MemoryStore(old := {}), data=np.full(3, rng.randrange(99)))
        stale[...] = rng.randrange(100, 10**6)
        values[key] = bytes(old["c/0"])
    elif kind == "stray":
        key += rng.choice(["0", ".tmp", "/0"])
        values[key] = b"stray"
    else:
        key = rng.choice([key for key in values if key not in chunks])
        values[key] = values[key].replace(b"3", b"4", 1) + b" "
    return {key}


@pytest.mark.parametrize(
    "count", [100, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_every_planted_fault_is_named_and_sound_stores_are_sound(count):
    rng = random.Random(7)
    sound = [hierarchy(seed) for seed in range(min(count, 500))]
    manifests = [create_manifest(MemoryStore(values)) for values in sound]
    for number in range(count):
        values, manifest = sound[number % len(sound)], manifests[number % len(sound)]
        present = list(values.items())
        rng.shuffle(present)
        assert verify(MemoryStore(dict(present)), manifest).problems == ()
        damaged = dict(values)
        expected = plant(damaged, rng)
        found = verify(MemoryStore(damaged), manifest)
        assert {problem.key for problem in found.problems} == expected
        digest = create_manifest(MemoryStore(damaged)).digest
        assert (digest == manifest.digest) == (not expected)


def test_the_kinds_of_problems():
    values = {key: key.encode() * 2 for key in "abcdefg"}
    manifest = create_manifest(MemoryStore(values))
    now = values | {"a": b"b", "b": b"aaa", "c": values["d"], "new": b"?", "copy": values["g"]}
    del now["e"]
    found = {it.key: (it.kind, it.reason) for it in verify(MemoryStore(now), manifest).problems}
    assert found == {
        "a": ("size", "has 1 bytes instead of 2"),
        "b": ("size", "has 3 bytes instead of 2"),
        "c": ("content", "has another content than in the manifest"),
        "copy": ("unexpected", "is in the store, but not in the manifest"),
        "e": ("missing", "is in the manifest, but not in the store"),
        "new": ("unexpected", "is in the store, but not in the manifest"),
    }


def test_a_value_that_cannot_be_read_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
        archive.writestr("c/0", b"content that is damaged")
    manifest = create_manifest(tmp_path / "a.zip")
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(b"content", b"Content"))
    (problem,) = verify(tmp_path / "a.zip", manifest).problems
    assert problem.key == "c/0"
    assert problem.kind in ("unreadable", "content")


def test_a_store_without_listing_is_verified_by_the_keys_of_the_manifest():
    store = UnlistedStore(values := hierarchy(8))
    manifest = create_manifest(MemoryStore(dict(values)))
    found = verify(store, manifest)
    assert found.is_sound
    assert not found.listed
    del values[lost := sorted(values)[0]]
    assert [problem.key for problem in verify(store, manifest).problems] == [lost]


# --- data of other programs ---
