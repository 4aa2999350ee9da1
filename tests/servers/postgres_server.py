"""PostgreSQL, with a new cluster that trusts all connections by the loopback interface."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from typing import TYPE_CHECKING, Any

from servers import places
from servers.process import Server, ServerFailed

if TYPE_CHECKING:
    from pathlib import Path


class PostgresServer(Server):
    """PostgreSQL; runs as another user if the tests run as root, as PostgreSQL requires."""

    name = "postgres"
    durable = True
    installation = ("PostgreSQL", "apt-get install postgresql")
    stop_signal = signal.SIGINT  # ends open sessions; SIGTERM waits for them

    @staticmethod
    def program() -> Path | None:
        found = [places.system(name) for name in ("postgres", "initdb", "pg_isready")]
        return found[0] if all(found) else None

    @property
    def url(self) -> str:
        return f"postgresql://{self.role}@{self.host}:{self.port}/postgres"

    @property
    def role(self) -> str:
        """Role for connections; no password is required."""
        return "postgres"

    def user(self) -> str | None:
        if os.geteuid():
            return None
        everybody = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in everybody else "nobody"

    def prepare(self) -> None:
        user = self.user()
        if user:
            account = pwd.getpwnam(user)
            os.chown(self.data, account.pw_uid, account.pw_gid)
        program = places.system("initdb")
        assert program
        cluster = str(self.data / "cluster")
        options = ["-D", cluster, "-U", self.role, "-A", "trust", "--no-sync"]
        options += ["-E", "UTF8", "--locale=C"]
        with self.log.open("ab") as log:
            done = subprocess.run(
                [str(program), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.data,
                user=user,
                group=user and pwd.getpwnam(user).pw_gid,
                extra_groups=user and [],
                check=False,
            )
        if done.returncode:
            raise ServerFailed(f"initdb ended with {done.returncode}:\n{self.tail()}")

    def command(self) -> list[Any]:
        settings = {
            "listen_addresses": self.host,
            "unix_socket_directories": "",
            # Not synchronised to the disk: processes are killed here, machines are not.
            "fsync": "off",
        }
        flags = [word for item in settings.items() for word in ("-c", "=".join(item))]
        return [self.program(), "-D", self.data / "cluster", "-p", str(self.port), *flags]

    def ready(self) -> bool:
        program = places.system("pg_isready")
        assert program
        question = [str(program), "-q", "-h", self.host, "-p", str(self.port)]
        return subprocess.run(question, check=False).returncode == 0
