"""Strict checks of request heads: ambiguous heads are rejected.

A proxy in front of the server may parse an ambiguous head differently and take a part of one
request for the next one (request smuggling).  Specification: RFC 9112, sections 2.2, 3,
5 and 6.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedIOBase

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(_TOKEN + rb" [\x21-\x7e\x80-\xff]+ HTTP/[0-9]\.[0-9]\r\n")
_FIELD = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([\t\x20-\x7e\x80-\xff]*)\r\n")
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]*)?")


class BadHeadError(Exception):
    """The request head is malformed or ambiguous."""


def check_request_line(line: bytes) -> None:
    """Reject a request line that does not follow RFC 9112, section 3.

    Raises
    ------
    BadHeadError
        If the parts are not separated by single spaces, or the line does not end with CRLF.
    """
    if not _REQUEST_LINE.fullmatch(line):
        raise BadHeadError("the request line must be METHOD SP TARGET SP HTTP/1.1 CRLF")


def read_fields(source: BufferedIOBase, version: bytes) -> bytes:
    """Read all field lines, including the empty line at the end.

    Parameters
    ----------
    source : binary stream
        The connection, after the request line.
    version : bytes
        The version in the request line, such as ``b"HTTP/1.1"``.

    Raises
    ------
    BadHeadError
        If a line is not a field, or the fields contradict each other.
    """
    lines: list[bytes] = []
    fields: dict[bytes, list[bytes]] = {}
    while (line := source.readline()) != b"\r\n":
        if not line:
            raise BadHeadError("the fields must end with an empty line")
        lines.append(line)
        if line[:1] in (b" ", b"\t"):
            raise BadHeadError("a field must not be folded over several lines")
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadHeadError(
                "a field must be NAME: VALUE CRLF, without a space before the colon and without "
                "control characters"
            )
        fields.setdefault(field[1].lower(), []).append(field[2].rstrip(b" \t"))
    _check_framing(fields, version)
    _check_host(fields, version)
    return b"".join([*lines, line])


def _check_framing(fields: Mapping[bytes, list[bytes]], version: bytes) -> None:
    """Reject fields with an ambiguous body length (RFC 9112, section 6)."""
    lengths = fields.get(b"content-length", [])
    if len(lengths) > 1:
        raise BadHeadError("Content-Length must not be repeated")
    if lengths and not re.fullmatch(rb"[0-9]+", lengths[0]):
        raise BadHeadError("Content-Length must be a decimal number")
    if b"transfer-encoding" in fields:
        if lengths:
            raise BadHeadError("Content-Length and Transfer-Encoding cannot be combined")
        if version < b"HTTP/1.1":
            raise BadHeadError("Transfer-Encoding requires HTTP/1.1")


def _check_host(fields: Mapping[bytes, list[bytes]], version: bytes) -> None:
    """Reject requests without exactly one valid Host field (RFC 9112, section 3.2)."""
    hosts = fields.get(b"host", [])
    if len(hosts) > 1 or (not hosts and version >= b"HTTP/1.1"):
        raise BadHeadError("a request must have exactly one Host field")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise BadHeadError("Host must be a name or an address, optionally with a port")
