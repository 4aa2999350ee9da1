"""Azurite, the emulator of Azure Blob Storage; its data is lost when it is killed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from servers import health, places
from servers.process import Server, ServerFailed

if TYPE_CHECKING:
    from pathlib import Path

# Published by Microsoft for its emulators.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2021-08-06"


class AzureServer(Server):
    """Azurite.

    Attributes
    ----------
    container, account, key : str
        The container exists and is empty after each start.
    """

    name = "azure"
    durable = False
    installation = ("Azurite", "npm install azurite@3.35.0")

    @staticmethod
    def program() -> Path | None:
        return places.from_npm("azurite-blob")

    def __init__(self) -> None:
        super().__init__()
        self.container, self.account, self.key = "zarr-test", ACCOUNT, KEY

    @classmethod
    def missing(cls) -> str | None:
        if not places.system("node"):
            return (
                "Azurite is not installed: install Node.js with npm, on which it runs,"
                f" then {places.INSTALL}"
            )
        return super().missing()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/{self.account}"

    @property
    def connection_string(self) -> str:
        """Connection string for clients of Azure."""
        settings = {
            "DefaultEndpointsProtocol": "http",
            "AccountName": self.account,
            "AccountKey": self.key,
            "BlobEndpoint": self.url,
        }
        return "".join(f"{name}={value};" for name, value in settings.items())

    def command(self) -> list[Any]:
        address = ["--blobHost", self.host, "--blobPort", str(self.port)]
        # Clients use newer versions of the API.
        quiet = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"]
        return [self.program(), *address, "--inMemoryPersistence", *quiet]

    def ready(self) -> bool:
        return health.serves(self.port, f"/{self.account}?comp=list", below=500)

    def started(self) -> None:
        self.create_container(self.container)

    def create_container(self, name: str) -> None:
        """Create another container; its name must have at least three letters."""
        fields = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION}
        signed = [f"{field}:{value}" for field, value in fields.items()]
        # The path contains the account twice: for the emulator and for the service.
        signed += [f"/{self.account}/{self.account}/{name}", "restype:container"]
        text = "\n".join(["PUT", *[""] * 11, *signed])
        digest = hmac.digest(base64.b64decode(self.key), text.encode(), hashlib.sha256)
        fields["Authorization"] = f"SharedKey {self.account}:{base64.b64encode(digest).decode()}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request("PUT", f"/{self.account}/{name}?restype=container", headers=fields)
            answer = connection.getresponse()
            if answer.status != 201:
                raise ServerFailed(f"container {name}: {answer.status} {answer.read()[:500]!r}")
        finally:
            connection.close()
