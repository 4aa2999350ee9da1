"""OpenSSH server for SFTP, with new keys."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from servers import health, places
from servers.process import Server


class SftpServer(Server):
    """OpenSSH; clients use ``private_key``.

    Attributes
    ----------
    username : str
        The user that runs the tests.
    root : pathlib.Path
        Working directory, with the files that clients write.
    private_key : pathlib.Path
    """

    name = "sftp"
    durable = True
    installation = ("SFTP server", "apt-get install openssh-server")

    def __init__(self) -> None:
        super().__init__()
        self.username = getpass.getuser()
        self.root = self.data / "root"
        self.private_key = self.directory / "user"
        self._host_key = self.directory / "host"

    @staticmethod
    def program() -> Path | None:
        return places.system("sshd") if places.system("ssh-keygen") else None

    @property
    def url(self) -> str:
        return f"sftp://{self.username}@{self.host}:{self.port}{self.root}"

    def prepare(self) -> None:
        self.root.mkdir()
        keygen = places.system("ssh-keygen")
        assert keygen
        for key in (self._host_key, self.private_key):
            making = [str(keygen), "-q", "-t", "ed25519", "-N", "", "-C", "tests", "-f", str(key)]
            subprocess.run(making, check=True, stdin=subprocess.DEVNULL)
        shutil.copy(self.private_key.with_suffix(".pub"), self.directory / "authorized_keys")
        if not os.geteuid():
            Path("/run/sshd").mkdir(exist_ok=True)  # required by the daemon of root

    def command(self) -> list[Any]:
        settings = self.directory / "sshd_config"
        settings.write_text(
            f"Port {self.port}\n"
            f"ListenAddress {self.host}\n"
            f"HostKey {self._host_key}\n"
            f"AuthorizedKeysFile {self.directory / 'authorized_keys'}\n"
            "PidFile none\n"
            "PasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\n"
            "StrictModes no\n"
            "UsePAM no\n"
            # Allow many concurrent connections.
            "MaxStartups 200\n"
            "MaxSessions 100\n"
            "Subsystem sftp internal-sftp\n"
            "ForceCommand internal-sftp\n"
        )
        return [self.program(), "-D", "-e", "-f", settings]

    def ready(self) -> bool:
        return health.says(self.port, b"SSH-2.0")
