"""The store tests with S3, Azure and WebDAV servers."""

from uuid import uuid4

import pytest
from object_stores import NO_RETRIES, azure_environment, gcs_environment, s3_environment
from servers import places
from servers.requirement import unavailable
from store_contract import LateUpdateContract, StoreContract
from zarr_conformance.kit.store_keys import GOOD_KEYS
from zarr_core.extension import ByteRange, StoreKeyError, ValueReplacedError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


class ObjectContract(LateUpdateContract):
    """Base class of the tests of object stores."""

    examples = 10

    # obstore does not support control characters.
    @pytest.mark.parametrize("key", [key for key in GOOD_KEYS if "\n" not in key], ids=ascii)
    def test_unusual_keys_are_valid(self, store, key):
        StoreContract.test_unusual_keys_are_valid(self, store, key)

    @pytest.mark.parametrize("key", ["x\ny", "a/\x01", "\x7f"], ids=ascii)
    def test_keys_with_control_characters_are_rejected(self, store, key):
        for call in (store.get, store.exists, store.open_value, store.erase):
            with pytest.raises(StoreKeyError):
                call(key)
        with pytest.raises(StoreKeyError):
            store.set(key, b"v")

    def test_parts_of_a_large_value_are_of_one_version(self, store):
        store.set("k", b"old" * 50_000)
        for first in (None, ByteRange(-9), ByteRange(0), ByteRange(120_000, 99)):
            with store.open_value("k", first) as reader:
                assert bytes(reader.read(99_000, 3)) == b"old"
                assert bytes(reader.read(149_991, 9)) == b"oldoldold"
        with store.open_value("k", ByteRange(0, 9)) as reader:
            store.set("k", b"newer" * 50_000)
            with pytest.raises(ValueReplacedError):
                reader.read(99_000, 3)

    fixture, environment, address = "", None, ""
    """The name of the fixture of the server, its variables, and the URL of its bucket."""

    @pytest.fixture(autouse=True)
    def _server(self, request, monkeypatch):
        self.server = request.getfixturevalue(self.fixture)
        for name, value in self.environment(self.server).items():
            monkeypatch.setenv(name, value)

    def make(self, tmp_path):
        return ObjectStore.from_url(f"{self.address.format(self.server)}/{uuid4()}")

    def again(self, store, *, read_only):
        return ObjectStore.from_url(store.url, read_only=read_only)


class TestS3(ObjectContract):
    name = "s3"
    fixture, environment = "s3_server", staticmethod(s3_environment)
    address = "s3://{0.bucket}"


class TestAzure(ObjectContract):
    name = "az"
    fixture, environment = "azure_server", staticmethod(azure_environment)
    address = "az://{0.container}"


class TestGoogle(ObjectContract):
    name = "gs"
    examples = 5
    fixture, environment = "gcs_writable", staticmethod(lambda it: gcs_environment(it.url))
    address = "gs://{0.bucket}"


class WebDavContract(ObjectContract):
    """A WebDAV server, with files, directories and times in seconds."""

    key_may_be_prefix = False
    # A directory is not a value, but its name is used; empty directories remain; the tag of a
    # file is its size and the second of the last write.
    test_key_that_is_a_prefix_works_or_raises = None
    test_erase = None
    test_generation_changes_with_value = None
    # Names are the operating system's, which the servers say nothing about.
    test_long_key_works_or_raises = None
    test_deep_keys = None
    test_concurrent_updates_lose_nothing = None  # one writer, with the locks of any store
    test_an_update_that_is_always_late_gets_its_turn = None

    def make(self, tmp_path):
        directory = self.server.root / "dav" / str(uuid4())
        directory.mkdir(parents=True)
        return self._at(f"{self.server.url}/dav/{directory.name}")

    def again(self, store, *, read_only):
        return self._at(store.url, read_only=read_only)

    def _at(self, url, **options):
        return ObjectStore.from_url(
            url, webdav=True, conditional=False, retry_config=NO_RETRIES, **options
        )

    def test_erased_keys_are_missing(self, store):
        self._fill(store)
        store.erase_values(["foo/c/1", "foo/zarr.json", "none", "no/ne"])
        store.erase("foo/c/0")
        store.erase("foo/c/0")
        assert sorted(store.list()) == ["foobar/zarr.json", "zarr.json"]
        assert store.list_dir("foo/c/") == ([], [])


class TestWsgiDav(WebDavContract):
    """It overwrites files in place: concurrent readers get an error for a short body."""

    test_reads_during_writes_are_consistent = None

    @pytest.fixture(autouse=True)
    def _server(self, webdav_server):
        self.server = webdav_server


class TestNginx(WebDavContract):
    """It does not list names that begin with a full stop."""

    @pytest.fixture(autouse=True)
    def _server(self, http_server):
        if not http_server.lists:
            package = "apt-get install libnginx-mod-http-dav-ext"
            unavailable(places.how_to_get("the module of nginx for PROPFIND", package))
        self.server = http_server

    @pytest.mark.parametrize(
        "key", [key for key in GOOD_KEYS if "\n" not in key and "/." not in f"/{key}"], ids=ascii
    )
    def test_unusual_keys_are_valid(self, store, key):
        StoreContract.test_unusual_keys_are_valid(self, store, key)
