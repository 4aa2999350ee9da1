"""Features of the HTTP servers."""

import http.client

import pytest
from servers.http_server import NginxServer, PlainHttpServer, WebDavServer

pytest_plugins = ["servers.fixtures"]


def ask(server, method, path, body=None, **fields):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("kind", [NginxServer, WebDavServer, PlainHttpServer])
def test_files_are_served_after_a_kill_as_well(kind, own_server):
    server = own_server(kind)
    (server.root / "a b").write_bytes(b"content")
    assert ask(server, "GET", "/a%20b") == (200, b"content")
    server.kill()
    server.start()
    assert ask(server, "GET", "/a%20b") == (200, b"content")


def test_nginx_has_ranges_and_can_be_written(http_server):
    assert ask(http_server, "PUT", "/dav/x/y", b"0123456789")[0] == 201
    assert (http_server.root / "dav/x/y").read_bytes() == b"0123456789"
    assert ask(http_server, "GET", "/dav/x/y", Range="bytes=2-3") == (206, b"23")
    assert ask(http_server, "GET", "/dav/x/y", Range="bytes=-3") == (206, b"789")
    assert ask(http_server, "PROPFIND", "/dav/x/", Depth="1")[0] == (
        207 if http_server.lists else 405
    )
    assert ask(http_server, "DELETE", "/dav/x/y")[0] == 204


def test_wsgidav_minds_conditions(webdav_server):
    assert ask(webdav_server, "PUT", "/new", b"1", If_None_Match="*")[0] == 201
    assert ask(webdav_server, "PUT", "/new", b"2", If_None_Match="*")[0] == 412
    assert ask(webdav_server, "GET", "/new", Range="bytes=0-0") == (206, b"1")
    assert ask(webdav_server, "PROPFIND", "/", Depth="1")[0] == 207


def test_the_plain_one_has_no_ranges(plain_http_server):
    (plain_http_server.root / "file").write_bytes(b"0123456789")
    assert ask(plain_http_server, "GET", "/file", Range="bytes=2-3") == (200, b"0123456789")
