"""HTTP servers: nginx, and ``http.server`` without ranges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from servers import health, places
from servers.process import Server

MIME_TYPES = Path("/etc/nginx/mime.types")


class _Files(Server):
    """A server of the files below ``root``."""

    durable = True

    def __init__(self) -> None:
        super().__init__()
        self.root = self.data / "root"
        self.root.mkdir()

    def ready(self) -> bool:
        return health.serves(self.port, "/")


class NginxServer(_Files):
    """nginx, with ranges, ETags and HTML listings; ``/dav/`` is writable.

    Attributes
    ----------
    root : pathlib.Path
        Directory that is served.
    """

    name = "nginx"
    installation = ("nginx", "apt-get install nginx")

    @staticmethod
    def program() -> Path | None:
        return places.system("nginx")

    def prepare(self) -> None:
        (self.root / "dav").mkdir()
        (self.data / "tmp").mkdir()

    def command(self) -> list[Any]:
        settings = self.directory / "nginx.conf"
        errors = self.directory / "errors"
        temporary = "".join(
            f"  {name}_temp_path {self.data}/tmp/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        settings.write_text(
            "daemon off;\nworker_processes 1;\n"
            + ("" if os.geteuid() else "user root;\n")
            + f"pid {self.directory}/nginx.pid;\nerror_log {errors};\n"
            + "events { worker_connections 2048; }\n"
            "http {\n"
            + (f"  include {MIME_TYPES};\n" if MIME_TYPES.exists() else "")
            + "  access_log off;\n  client_max_body_size 0;\n  keepalive_requests 1000000;\n"
            + temporary
            + f"  server {{\n    listen {self.host}:{self.port} backlog=1024;\n"
            + f"    root {self.root};\n    autoindex on;\n"
            + "    location /dav/ {\n      dav_methods PUT;\n"
            + "      create_full_put_path on;\n    }\n  }\n}\n"
        )
        return [self.program(), "-e", errors, "-c", settings]


class PlainHttpServer(_Files):
    """``python -m http.server``, with GET and HEAD, without ranges and ETags."""

    name = "http"

    def command(self) -> list[Any]:
        address: list[str | Path] = [str(self.port), "--bind", self.host, "--directory", self.root]
        return [self.program(), "-m", "http.server", *address]
