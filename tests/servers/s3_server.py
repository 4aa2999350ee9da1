"""Servers of S3: moto, fast but forgetful; SeaweedFS, which keeps what it has."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING

from servers import health, places
from servers.process import Server, ServerFailed

if TYPE_CHECKING:
    from pathlib import Path

BUCKET = "zarr-test"
REGION = "us-east-1"


class MotoServer(Server):
    """moto: S3 in memory.  It takes any credentials.

    Attributes
    ----------
    bucket, region, access_key, secret_key : str
        The bucket is there, and empty, after each start.
    """

    name = "moto"
    durable = False

    def __init__(self) -> None:
        super().__init__()
        self.bucket, self.region = BUCKET, REGION
        self.access_key, self.secret_key = "moto-access-key", "moto-secret-key"

    @classmethod
    def missing(cls) -> str | None:
        if places.from_pip("moto_server"):
            return None
        return places.how_to_get("S3 server (moto)", 'pip install "moto[s3]" flask flask-cors')

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def command(self) -> list[str | Path]:
        program = places.from_pip("moto_server")
        assert program
        return [program, "-H", self.host, "-p", str(self.port)]

    def ready(self) -> bool:
        return health.serves(self.port, "/moto-api/data.json")

    def started(self) -> None:
        self.create_bucket(self.bucket)

    def create_bucket(self, name: str) -> None:
        """Create another bucket."""
        _expect(self.port, "PUT", f"/{name}", 200)

    def reset(self) -> None:
        """Forget all buckets; then there is the usual one, empty."""
        _expect(self.port, "POST", "/moto-api/reset", 200)
        self.create_bucket(self.bucket)


def _expect(port: int, method: str, path: str, status: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        # The service is known by the credentials that a request is signed with.
        signed = f"AWS4-HMAC-SHA256 Credential=x/20200101/{REGION}/s3/aws4_request"
        connection.request(method, path, headers={"Authorization": signed})
        answer = connection.getresponse()
        if answer.status != status:
            raise ServerFailed(f"{method} {path}: {answer.status} {answer.read()[:500]!r}")
    finally:
        connection.close()
