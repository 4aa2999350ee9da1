"""Sessions of Icechunk as stores."""

import pickle
import warnings

import numpy as np
import pytest
import zarr
import zarr_core
from zarr_bridge.icechunk import IcechunkStore
from zarr_core.errors import StoreCapabilityError, StoreError, StoreReadOnlyError

icechunk = pytest.importorskip("icechunk")

pytest_plugins = ["servers.fixtures"]

VALUES = np.arange(600, dtype="float64").reshape(30, 20)


@pytest.fixture
def on_disk(tmp_path):
    return icechunk.local_filesystem_storage(str(tmp_path / "repository"))


@pytest.fixture
def on_s3(s3_server, tmp_path):
    return icechunk.s3_storage(
        bucket=s3_server.bucket,
        prefix=f"ice{tmp_path}",
        endpoint_url=s3_server.url,
        region=s3_server.region,
        access_key_id=s3_server.access_key,
        secret_access_key=s3_server.secret_key,
        allow_http=True,
        force_path_style=True,
    )


@pytest.fixture(params=["on_disk", "on_s3"])
def repository(request):
    with warnings.catch_warnings(action="ignore"):  # that directories are for trying only
        return icechunk.Repository.create(request.getfixturevalue(request.param))


@pytest.fixture
def session(on_disk):
    with warnings.catch_warnings(action="ignore"):
        return icechunk.Repository.create(on_disk).writable_session("main")


def test_zarr_python_reads_written_arrays(repository):
    session = repository.writable_session("main")
    root = zarr_core.create_group(session.store, attributes={"title": "ice"})
    array = root.create_array("a/field", data=VALUES, chunks=(7, 6))
    array[3:9, ::2] = -1
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))
    assert len(list(repository.ancestry(branch="main"))) == 1
    session.commit("first")

    expected = VALUES.copy()
    expected[3:9, ::2] = -1
    store = repository.readonly_session("main").store
    there = zarr.open_group(store, mode="r")
    assert there.attrs["title"] == "ice"
    assert np.array_equal(there["a/field"][...], expected)
    assert np.array_equal(there["sharded"][...], VALUES)
    here = zarr_core.open_group(store)
    assert here.read_only
    assert [path for path, _ in here.members(max_depth=None)] == ["a", "a/field", "sharded"]
    assert np.array_equal(here["a/field"][...], expected)
    assert np.array_equal(here["sharded"][3:17, ::3], VALUES[3:17, ::3])


def test_arrays_of_zarr_python_are_read_and_changed(repository):
    session = repository.writable_session("main")
    root = zarr.create_group(session.store, attributes={"title": "there"})
    array = root.create_array(
        "field", shape=VALUES.shape, dtype="float64", chunks=(5, 5), shards=(10, 20)
    )
    array[...] = VALUES
    first = session.commit("by zarr-python")

    session = repository.writable_session("main")
    here = zarr_core.open_group(session.store, mode="r+")
    assert np.array_equal(here["field"][...], VALUES)
    here["field"][2:4, 1:3] = 7
    here["field"].append(np.ones((10, 20)))
    here.attrs["changed"] = True
    second = session.commit("by zarr-core")

    there = zarr.open_group(repository.readonly_session(snapshot_id=second).store, mode="r")
    assert there.attrs["changed"]
    assert there["field"].shape == (40, 20)
    assert (there["field"][2:4, 1:3] == 7).all()
    old = zarr_core.open_group(repository.readonly_session(snapshot_id=first).store)
    assert "changed" not in old.attrs
    assert np.array_equal(old["field"][...], VALUES)


def test_session_is_a_location(session):
    zarr_core.create_group(session)
    assert zarr_core.open_group(session, mode="r").store == IcechunkStore(session.store)


def test_erasing_and_listing(session):
    root = zarr_core.create_group(session)
    root.create_array("a/x", data=VALUES, chunks=(10, 10))
    root.create_array("b", data=VALUES, chunks=(10, 10))
    store = root.store
    assert sorted(store.list_prefix("a/x/c/0/")) == ["a/x/c/0/0", "a/x/c/0/1"]
    assert store.list_dir("a/") == (["a/zarr.json"], ["a/x/"])
    assert store.list_dir("a/x/") == (["a/x/zarr.json"], ["a/x/c/"])
    assert sorted(store.list_dir("a/x/c/")[1]) == ["a/x/c/0/", "a/x/c/1/", "a/x/c/2/"]
    assert sorted(store.list_dir("a/x/c/2/")[0]) == ["a/x/c/2/0", "a/x/c/2/1"]
    for prefix in ("nothing/", "a/nothing/", "a/x/nothing/", "a/x/c/0/0/"):
        assert list(store.list_prefix(prefix)) == []
        assert store.list_dir(prefix) == ([], [])
    for key in ("nothing", ".zarray", "a/x/c/9/9", "a/nothing/c/0", "nothing/zarr.json"):
        assert (store.get(key), store.exists(key), store.getsize(key)) == (None, False, None)
        store.erase(key)
    del root["a"]
    assert list(root) == ["b"]
    assert root.store.get("a/x/zarr.json") is None


def test_sessions_raise_for_unsupported_operations(session):
    zarr_core.create_group(session)
    store = IcechunkStore(session.store)
    with pytest.raises(ValueError, match="fork"):
        pickle.dumps(store)
    with pytest.raises(StoreError, match=r"zarr-python://IcechunkStore.*notes\.txt'"):
        store.set("notes.txt", b"no document, no chunk")
    session.commit("done")
    with pytest.raises(StoreReadOnlyError):
        store.set("zarr.json", b"{}")


def test_reading_sessions_are_pickled(session, on_disk):
    zarr_core.create_array(session, data=VALUES, chunks=(10, 10))
    session.commit("done")
    with warnings.catch_warnings(action="ignore"):
        repository = icechunk.Repository.open(on_disk)
    array = zarr_core.open(repository.readonly_session("main"))
    assert np.array_equal(pickle.loads(pickle.dumps(array))[...], VALUES)


def test_forks_are_written_to_elsewhere_and_merged(session, on_disk):
    root = zarr_core.create_group(session)
    root.create_array("field", shape=(20, 20), chunks=(10, 10), dtype="float64")
    session.commit("shape")
    with warnings.catch_warnings(action="ignore"):
        repository = icechunk.Repository.open(on_disk)
    session = repository.writable_session("main")
    forks = [session.fork(), session.fork()]
    for number, fork in enumerate(forks):
        store = pickle.loads(pickle.dumps(IcechunkStore(fork.store)))
        zarr_core.open_group(store, mode="r+")["field"][10 * number : 10 * number + 10] = number + 1
        forks[number] = store.store.session
    session.merge(*forks)
    session.commit("both")
    array = zarr_core.open_group(repository.readonly_session("main"))["field"]
    assert array[..., 0].tolist() == [1] * 10 + [2] * 10


def test_a_repository_is_read_by_its_url(session, tmp_path):
    root = zarr_core.create_group(session)
    root.create_array("field", data=VALUES, chunks=(10, 10))
    snapshot = session.commit("done")
    url = f"icechunk://{tmp_path}/repository"
    with warnings.catch_warnings(action="ignore"):
        for options in ({}, {"branch": "main"}, {"snapshot_id": snapshot}):
            here = zarr_core.open_group(url, storage_options=options)
            assert here.store.url == url
            assert np.array_equal(here["field"][...], VALUES)
            with pytest.raises(StoreReadOnlyError):
                here.store.set("zarr.json", b"{}")
        for wrong, options in ((url, {"tag": "none"}), (f"{url}2", {}), (url, {"nonsense": 1})):
            with pytest.raises(
                StoreError, match=r"icechunk://.*cannot open the Icechunk repository"
            ):
                zarr_core.open(wrong, storage_options=options)


def test_a_repository_in_s3_is_read_by_its_url(s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
    options = {
        "endpoint_url": s3_server.url, "region": s3_server.region, "allow_http": True,
        "force_path_style": True,
    }  # fmt: skip
    prefix = f"ice{tmp_path}"
    storage = icechunk.s3_storage(bucket=s3_server.bucket, prefix=prefix, from_env=True, **options)
    session = icechunk.Repository.create(storage).writable_session("main")
    zarr_core.create_array(session, data=VALUES, chunks=(10, 10))
    session.commit("done")
    url = f"icechunk+s3://{s3_server.bucket}/{prefix}"
    array = zarr_core.open(url, storage_options=options)
    assert np.array_equal(pickle.loads(pickle.dumps(array))[...], VALUES)


def test_static_credentials_are_not_pickled(on_s3):
    repository = icechunk.Repository.create(on_s3)
    store = IcechunkStore(repository.readonly_session("main").store)
    with pytest.raises(StoreError, match=r"the pickle would contain credentials \(static"):
        pickle.dumps(store)
    assert "secret" not in repr(store)


def test_sessions_are_not_consolidated(session):
    group = zarr_core.create_group(session.store)
    group.create_array("a", data=VALUES)
    for location in (session.store, group):
        with pytest.raises(StoreCapabilityError, match="consolidated metadata would hide nodes"):
            zarr_core.consolidate_metadata(location)
    assert "consolidated" not in str(zarr_core.open_group(session.store).metadata.to_json())
