"""The store tests with fsspec file systems."""

import pickle
import threading
import warnings

import pytest
from store_contract import StoreContract
from zarr_conformance.kit.store_keys import GOOD_KEYS
from zarr_core.errors import StoreError

fsspec = pytest.importorskip("fsspec")

from zarr_stores.fsspec import FsspecStore  # noqa: E402

pytest_plugins = ["servers.fixtures"]


class FsspecContract(StoreContract):
    """Base class of the tests of a file system; a subclass is a row of the table."""

    examples = 10

    root = ""
    """The URL of a directory."""

    options = {}

    def make(self, tmp_path):
        return FsspecStore.from_url(f"{self.root}{tmp_path}/field", **self.options)

    def again(self, store, *, read_only):
        return FsspecStore.from_url(store.url, read_only=read_only, **self.options)


class RemoteContract(FsspecContract):
    examples = 5
    test_concurrent_updates_lose_nothing = None  # the locks are those of TestMemory


class WithoutLineFeeds(RemoteContract):
    """moto cannot route a path with a line feed, and FTP sends lines."""

    @pytest.mark.parametrize("key", [key for key in GOOD_KEYS if "\n" not in key], ids=ascii)
    def test_unusual_keys_are_valid(self, store, key):
        super().test_unusual_keys_are_valid(store, key)


class TestMemory(FsspecContract):
    root = "fsspec+memory://"
    pickles = False
    test_pickle = None  # see below

    def test_a_memory_file_system_is_not_pickled(self, store):
        for read_only in (False, True):
            with pytest.raises(StoreError, match="cannot be pickled"):
                pickle.dumps(self.again(store, read_only=read_only))


class TestS3(WithoutLineFeeds):
    @pytest.fixture(autouse=True)
    def _server(self, s3_server, monkeypatch):
        pytest.importorskip("s3fs")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
        self.options = {"endpoint_url": s3_server.url}
        self.root = f"fsspec+s3://{s3_server.bucket}"


class TestSFTP(RemoteContract):
    key_may_be_prefix = False
    test_deep_keys = None  # 1,500 directories, one request after the other

    @pytest.fixture(autouse=True)
    def _server(self, sftp_server):
        pytest.importorskip("paramiko")
        self.options = {
            "port": sftp_server.port,
            "username": sftp_server.username,
            "key_filename": str(sftp_server.private_key),
        }
        self.root = f"sftp://{sftp_server.host}{sftp_server.root}"


@pytest.fixture(scope="module")
def ftp_server(tmp_path_factory):
    with warnings.catch_warnings(action="ignore"):  # of what it imports, of open doors
        pytest.importorskip("pyftpdlib.servers")
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.servers import ThreadedFTPServer

        class Handler(FTPHandler):
            authorizer = DummyAuthorizer()

        Handler.authorizer.add_anonymous(str(tmp_path_factory.mktemp("ftp")), perm="elradfmwMT")
    server = ThreadedFTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.address[1]
    server.close_all()
    thread.join()


class TestFTP(WithoutLineFeeds):
    root = "ftp://127.0.0.1"
    key_may_be_prefix = False
    test_deep_keys = None  # 1,500 directories, one request after the other
    test_key_that_is_a_prefix_works_or_raises = None  # a directory is not found rather than refused

    @pytest.fixture(autouse=True)
    def _port(self, ftp_server):
        self.options = {"port": ftp_server}
