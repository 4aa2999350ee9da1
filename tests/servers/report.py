"""Report which servers are installed, and how to install the others; a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from servers.azure_server import AzureServer
from servers.gcs_server import GcsServer
from servers.http_server import NginxServer, PlainHttpServer, WebDavServer
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from servers.s3_server import MotoServer, SeaweedServer
from servers.sftp_server import SftpServer

if TYPE_CHECKING:
    from servers.process import Server

KINDS: tuple[type[Server], ...] = (
    RedisServer,
    MongoServer,
    PostgresServer,
    SftpServer,
    MotoServer,
    SeaweedServer,
    AzureServer,
    GcsServer,
    NginxServer,
    WebDavServer,
    PlainHttpServer,
)


def main(*, names: bool = False) -> int:
    """Print which servers are installed and which are missing; return the number of missing ones.

    Parameters
    ----------
    names : bool
        Whether to print only names, without how to install the missing servers.
    """
    reasons = {kind.name: kind.missing() for kind in KINDS}
    installed = [name for name, reason in reasons.items() if reason is None]
    print("servers for the tests:", ", ".join(installed), flush=True)
    missing = {name: reason for name, reason in reasons.items() if reason}
    if names and missing:
        print("not installed:", ", ".join(missing), file=sys.stderr)
    elif missing:
        print(*(f"{name}: {reason}" for name, reason in missing.items()), sep="\n", file=sys.stderr)
    return len(missing)


if __name__ == "__main__":
    sys.exit(main(names="--names" in sys.argv))
