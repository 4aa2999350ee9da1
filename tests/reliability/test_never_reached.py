"""Servers that never answer: a wrong address is reported soon, with default limits.

A call that opens takes at most 5 s on an idle machine, one that creates at most 10 s; a server
that has answered is waited for for 60 s.
"""

import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest
import zarr_core as zarr
from servers.certificates import Certificates

LIMIT = {"open": 20, "create": 20}  # of a busy machine; twice as long as an idle one takes or more
S3 = {"access_key_id": "a", "secret_access_key": "s", "region": "r"}


def places(address, tls):
    """A location in a store of each kind at an address, and its options."""
    web = f"{'https' if tls else 'http'}://{address}"
    yield "s3://b/x", {"endpoint": web, **S3}
    yield "gs://b/x", {"base_url": web, "anon": True}
    yield "az://b/x", {"endpoint": web, "account_name": "n", "account_key": "a2V5"}
    yield f"{web}/x", {}
    yield f"{web}/dav", {"webdav": True}
    yield f"fsspec+{web}/x", {}
    yield "fsspec+s3://b/x", {"endpoint_url": web, "key": "a", "secret": "s"}
    yield f"redis{'s' * tls}://{address}/0", {}
    yield f"postgresql://u@{address}/d?sslmode={'require' if tls else 'disable'}", {"password": "p"}
    yield f"mongodb://{address}/d?directConnection=true&tls={'true' if tls else 'false'}", {}


@contextmanager
def listening(talk, backlog=100):
    """A server at a new port of this machine; ``talk`` gets each connection."""

    def serve():
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=talk_with, args=(client,), daemon=True).start()

    def talk_with(client):
        with suppress(OSError), client:
            client.settimeout(20)
            talk(client)

    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listener:
        if talk is not None:
            threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


@contextmanager
def closed_port(tmp_path):
    with listening(None) as address:
        pass
    yield address


@contextmanager
def unknown_name(tmp_path):
    yield "no-such-host.invalid:9"


@contextmanager
def other_protocol(tmp_path):
    def talk(client):
        client.sendall(b"220 mail.example ESMTP ready\r\n")
        client.recv(4096)

    with listening(talk) as address:
        yield address


@contextmanager
def unanswered(tmp_path):
    """The queue of connections is full, so the system ignores further ones."""
    with listening(None, backlog=0) as address, ExitStack() as clients:
        host, port = address.split(":")
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((host, int(port)))
        yield address


@contextmanager
def untrusted(tmp_path):
    files = Certificates.made(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)

    def talk(client):
        with context.wrap_socket(client, server_side=True) as secured:
            secured.recv(4096)

    with listening(talk) as address:
        yield address


CASES = [
    pytest.param(closed_port, False, id="refused"),
    pytest.param(unknown_name, False, id="no such name"),
    pytest.param(other_protocol, False, id="other protocol"),
    pytest.param(other_protocol, True, id="TLS to a plain port"),
    pytest.param(unanswered, False, id="unanswered"),
    pytest.param(untrusted, True, id="untrusted certificate"),
]


@pytest.mark.parametrize(("server", "tls"), CASES)
def test_a_server_that_is_never_reached_is_reported_soon(server, tls, tmp_path):
    pytest.importorskip("s3fs")

    def create(url, **options):
        zarr.create_array(url, data=[1, 2, 3], **options)

    functions = {"open": zarr.open, "create": create}

    def seconds(call, url, options):
        began = time.monotonic()
        with pytest.raises(zarr.errors.ZarrError) as caught:
            functions[call](url, storage_options=options)
        assert not isinstance(caught.value, zarr.errors.NodeNotFoundError)
        return time.monotonic() - began

    with server(tmp_path) as address, ThreadPoolExecutor(24) as pool:
        kinds = [*places(address, tls)]
        calls = [
            (call, *kind)
            for call in LIMIT
            for kind in kinds
            # HTTP without WebDAV is read-only.
            if call == "open" or not kind[0].startswith(("http", "fsspec+http")) or kind[1]
        ]
        taken = {call[:2]: pool.submit(seconds, *call) for call in calls}
        slow = {
            call: future.result()
            for call, future in taken.items()
            if future.result() > LIMIT[call[0]]
        }
    assert not slow
