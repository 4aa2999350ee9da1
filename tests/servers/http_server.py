"""HTTP servers: nginx, WsgiDAV with conditional writes, and ``http.server`` without ranges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from servers import health, places
from servers.process import Server

MODULES = Path("/usr/lib/nginx/modules")
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
    dav_url : str
        Supports PUT, DELETE, MKCOL, COPY, MOVE, and PROPFIND if ``lists`` is true.
    """

    name = "nginx"
    installation = ("nginx", "apt-get install nginx libnginx-mod-http-dav-ext")

    @staticmethod
    def program() -> Path | None:
        return places.system("nginx")

    @property
    def dav_url(self) -> str:
        return f"{self.url}/dav/"

    lists: ClassVar[bool] = (MODULES / "ngx_http_dav_ext_module.so").exists()
    """Whether the module for PROPFIND is installed."""

    def prepare(self) -> None:
        (self.root / "dav").mkdir()
        (self.data / "tmp").mkdir()

    def command(self) -> list[Any]:
        settings = self.directory / "nginx.conf"
        errors = self.directory / "errors"
        lists = self.lists
        temporary = "".join(
            f"  {name}_temp_path {self.data}/tmp/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        settings.write_text(
            "daemon off;\nworker_processes 1;\n"
            + ("" if os.geteuid() else "user root;\n")
            + f"pid {self.directory}/nginx.pid;\nerror_log {errors};\n"
            + (f"load_module {MODULES}/ngx_http_dav_ext_module.so;\n" if lists else "")
            + "events { worker_connections 2048; }\n"
            "http {\n"
            + (f"  include {MIME_TYPES};\n" if MIME_TYPES.exists() else "")
            + "  access_log off;\n  client_max_body_size 0;\n  keepalive_requests 1000000;\n"
            + temporary
            + f"  server {{\n    listen {self.host}:{self.port} backlog=1024;\n"
            + f"    root {self.root};\n    autoindex on;\n"
            + "    location /dav/ {\n      dav_methods PUT DELETE MKCOL COPY MOVE;\n"
            + ("      dav_ext_methods PROPFIND OPTIONS;\n" if lists else "")
            + "      create_full_put_path on;\n    }\n  }\n}\n"
        )
        return [self.program(), "-e", errors, "-c", settings]


class NginxDavServer(NginxServer):
    """The writable part of nginx, with listings; it creates directories and ignores conditions."""

    name = "nginx-dav"

    @classmethod
    def missing(cls) -> str | None:
        if (reason := super().missing()) is not None or cls.lists:
            return reason
        return places.how_to_get("nginx with PROPFIND", "apt-get install libnginx-mod-http-dav-ext")


class WebDavServer(_Files):
    """WsgiDAV, with complete WebDAV and PUT with ``If-None-Match``."""

    name = "wsgidav"
    installation = ("WsgiDAV", "pip install wsgidav cheroot")

    @staticmethod
    def program() -> Path | None:
        return places.from_pip("wsgidav")

    def command(self) -> list[Any]:
        address = [f"--host={self.host}", f"--port={self.port}", f"--root={self.root}"]
        return [self.program(), *address, "--auth=anonymous", "--no-config"]


class PlainHttpServer(_Files):
    """``python -m http.server``, with GET and HEAD, without ranges and ETags."""

    name = "http"

    def command(self) -> list[Any]:
        address: list[str | Path] = [str(self.port), "--bind", self.host, "--directory", self.root]
        return [self.program(), "-m", "http.server", *address]
