"""Signed requests to an S3 server, without a client library."""

from __future__ import annotations

import hashlib
import hmac
import http.client
from datetime import UTC, datetime


def request(
    method: str,
    host: str,
    port: int,
    path: str,
    *,
    region: str,
    access_key: str,
    secret_key: str,
    body: bytes = b"",
) -> tuple[int, bytes]:
    """Send a request with a signature of version 4.

    Returns
    -------
    tuple of int, bytes
        Status and body of the response.

    Raises
    ------
    OSError, http.client.HTTPException
        If there is no response.
    """
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    content = hashlib.sha256(body).hexdigest()
    fields = {"host": f"{host}:{port}", "x-amz-content-sha256": content, "x-amz-date": now}
    names = ";".join(fields)
    lines = [f"{name}:{value}" for name, value in fields.items()]
    canonical = "\n".join([method, path, "", *lines, "", names, content])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, digest])
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    signature = hmac.digest(key, text.encode(), hashlib.sha256).hex()
    fields["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={access_key}/{scope},"
        f"SignedHeaders={names},Signature={signature}"
    )
    connection = http.client.HTTPConnection(host, port, timeout=60)
    try:
        connection.request(method, path, body or None, fields)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
