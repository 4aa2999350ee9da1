"""Whether the metadata service of EC2 has credentials of a role for this machine.

obstore requests them before each request, but has no way to continue without them.
"""

from __future__ import annotations

import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

DEFAULT_ENDPOINT: Final = "http://169.254.169.254"
_TIMEOUT: Final = 1.0  # seconds, for a service in the same machine
_KEPT: Final = 60.0  # seconds for which an answer is used again
_TOKEN: Final = "/latest/api/token"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"

_answers: dict[tuple[str, bool], tuple[float, str]] = {}
_asking = threading.Lock()


def find_role_problem(endpoint: str, first_version: bool) -> str:
    """Return why there are no credentials of a role; empty if there are.

    Parameters
    ----------
    endpoint : str
        URL of the metadata service.
    first_version : bool
        Whether the first version of its protocol, without tokens, may be used.

    Notes
    -----
    Takes at most a few seconds if the service does not answer.
    """
    with _asking:
        when, problem = _answers.get((endpoint, first_version), (0.0, ""))
        if not when or time.monotonic() - when > _KEPT:
            problem = _request(endpoint, first_version)
            _answers[endpoint, first_version] = time.monotonic(), problem
        return problem


def _request(endpoint: str, first_version: bool) -> str:
    parts = urlsplit(endpoint)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    path = parts.path.rstrip("/")
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        try:
            ttl = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
            connection.request("PUT", path + _TOKEN, headers=ttl)
            response = connection.getresponse()
            token = response.read(4096).decode("latin-1").strip()
            headers = {"X-aws-ec2-metadata-token": token}
            if response.status >= 500:
                return ""  # obstore repeats its requests
            if response.status != 200:
                if not first_version:
                    return f"the metadata service answers {response.status} for a token"
                headers = {}
            connection.request("GET", path + _ROLES, headers=headers)
            response = connection.getresponse()
            roles = response.read(4096).strip()
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        return f"the metadata service does not answer ({error or type(error).__name__})"
    if response.status == 404 or (response.status == 200 and not roles):
        return "the machine has no role"
    if 400 <= response.status < 500:
        return f"the metadata service answers {response.status} for the role"
    return ""
