"""Health checks of local servers, without their client libraries."""

from __future__ import annotations

import http.client
import socket

from servers.ports import HOST

PATIENCE = 10.0  # seconds per check


def accepts(port: int) -> bool:
    """Return whether a port accepts connections."""
    try:
        socket.create_connection((HOST, port), PATIENCE).close()
    except OSError:
        return False
    return True


def says(port: int, expected: bytes, question: bytes = b"") -> bool:
    """Return whether the response of a port, to a question or none, starts with these bytes."""
    answer = b""
    try:
        with socket.create_connection((HOST, port), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(question)
            while len(answer) < len(expected) and (more := connection.recv(1024)):
                answer += more
    except OSError:
        return False
    return answer.startswith(expected)


def serves(port: int, path: str, method: str = "GET", below: int = 400) -> bool:
    """Return whether an HTTP server responds with a status below the given one."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
    try:
        connection.request(method, path)
        return connection.getresponse().status < below
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
