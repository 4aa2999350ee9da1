"""The store tests with the servers of S3, Azure and Google Cloud."""

from uuid import uuid4

import pytest
from object_stores import azure_environment, gcs_environment, s3_environment
from store_contract import StoreContract
from zarr_conformance.kit.store_keys import GOOD_KEYS
from zarr_core.extension import ByteRange, StoreKeyError, ValueReplacedError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


class ObjectContract(StoreContract):
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
