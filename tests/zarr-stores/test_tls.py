"""Stores on servers with TLS: trusted and rejected certificates."""

import http.server
import os
import pwd
import ssl

import numpy as np
import pytest
import zarr_core as zarr
from loopback import serving
from server_store_contract import unique
from servers.certificates import Certificates
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from zarr_core.extension import StoreError
from zarr_stores.databases.mongodb import MongoDBStore
from zarr_stores.databases.postgresql import PostgreSQLStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


class Redis(RedisServer):
    """A server with a second port for TLS."""

    further_ports = (1,)

    def command(self):
        files = Certificates.made(self.data)
        words = {"port": self.port + 1, "cert-file": files.certificate, "key-file": files.key}
        words |= {"ca-cert-file": files.authority, "auth-clients": "no"}
        return [
            *super().command(),
            *(it for word in words for it in (f"--tls-{word}", words[word])),
        ]

    def store(self, authority):
        url = f"rediss://{self.host}:{self.port + 1}/0?prefix={unique()}"
        return RedisStore(url, ssl_ca_certs=str(authority), retry_timeout=0)


class Postgres(PostgresServer):
    def command(self):
        files = Certificates.made(self.data)
        if user := self.user():
            for path in (files.certificate, files.key):
                os.chown(path, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        rules = self.data / "cluster" / "pg_hba.conf"
        rules.write_text("hostssl all all 127.0.0.1/32 trust\n")
        words = {"ssl": "on", "ssl_cert_file": files.certificate, "ssl_key_file": files.key}
        return [
            *super().command(),
            *(it for word in words for it in ("-c", f"{word}={words[word]}")),
        ]

    def store(self, authority):
        url = f"{self.url}?sslmode=verify-full&table={unique()}"
        return PostgreSQLStore(url, sslrootcert=str(authority), retry_timeout=0)


class Mongo(MongoServer):
    def command(self):
        files = Certificates.made(self.data)
        shown = ["--tls-cert-file", files.certificate, "--tls-key-file", files.key]
        return [*super().command(), *shown]

    def store(self, authority):
        url = f"mongodb://{self.host}:{self.port}/zarr?directConnection=true&tls=true"
        options = {"tlsCAFile": str(authority), "retry_timeout": 0, "connect_timeout": 5}
        return MongoDBStore(url, collection=unique(), **options)


@pytest.mark.parametrize("kind", [Redis, Postgres, Mongo])
def test_a_server_is_trusted_or_rejected(own_server, kind, tmp_path):
    server = own_server(kind)
    with server.store(server.data / "authority.pem") as store:
        array = zarr.create_array(store, data=np.arange(9), chunks=3)
        array[4] = 44
        assert zarr.open(store)[4] == 44
        again = type(store)(store.url, retry_timeout=0)
        assert store.url.partition(":")[0] == again.url.partition(":")[0]
    strangers = Certificates.made(tmp_path)  # of the same name
    with server.store(strangers.authority) as store:
        for call in (lambda: store.get("zarr.json"), lambda: store.set("k", b"v")):
            with pytest.raises(StoreError, match="certificate verify failed") as caught:
                call()
            assert str(store) in str(caught.value)
    with again, pytest.raises(StoreError, match="certificate|root"):  # without a trusted authority
        again.get("zarr.json")


def test_an_http_server_with_an_unknown_certificate_is_rejected(tmp_path, monkeypatch):
    files = Certificates.made(tmp_path)
    (tmp_path / "k").write_bytes(b"v")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    with serving(Handler, context) as server:
        retry = {"max_retries": 0}
        with pytest.raises(StoreError, match=rf"{server.url} 'k': .*certificate .*UnknownIssuer"):
            ObjectStore.from_url(server.url, retry_config=retry).get("k")
        monkeypatch.setenv("SSL_CERT_FILE", str(files.authority))
        assert bytes(ObjectStore.from_url(server.url, retry_config=retry).get("k")) == b"v"
