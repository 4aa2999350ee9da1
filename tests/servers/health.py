"""Questions that tell whether a server on the loopback interface answers, without its client."""

from __future__ import annotations

import http.client
import socket

from servers.ports import HOST

PATIENCE = 2.0  # seconds for one question


def accepts(port: int) -> bool:
    """Whether something listens at a port."""
    try:
        socket.create_connection((HOST, port), PATIENCE).close()
    except OSError:
        return False
    return True


def says(port: int, expected: bytes, question: bytes = b"") -> bool:
    """Whether what listens at a port answers a question, or a silence, with these bytes first."""
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
    """Whether an HTTP server answers a request with a status below the given one."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
    try:
        connection.request(method, path)
        return connection.getresponse().status < below
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
