"""Settings and credentials of AWS that obstore does not find itself.

obstore reads neither the files of AWS, nor does it go on anonymously without credentials: it asks the
metadata service of EC2 before each request.
"""

from __future__ import annotations

import os
import threading
import time
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict
from urllib.parse import urlsplit

from zarr_core.extension import StoreError
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_KEYS: Final = frozenset(
    {"access_key_id", "secret_access_key", "session_token", "skip_signature", "credential_provider"}
)
# Environments in which obstore finds credentials itself.
_FOUND_BY_OBSTORE: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
# Methods of profiles that require requests: for them, botocore is used.
_BY_BOTOCORE: Final = (
    "credential_process", "login_session", "role_arn", "source_profile", "sso_account_id",
    "sso_session", "sso_start_url", "web_identity_token_file",
)  # fmt: skip
# What identifies an instance of EC2, in files that any user can read; the second of older ones.
_FIRMWARE: Final = {
    Path("/sys/devices/virtual/dmi/id/sys_vendor"): "amazon",
    Path("/sys/devices/virtual/dmi/id/bios_version"): "amazon",
}
_ENDPOINT: Final = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
DEFAULT_ENDPOINT: Final = "http://169.254.169.254"
_TIMEOUT: Final = 1.0  # seconds, for a service in the same machine
_KEPT: Final = 60.0  # seconds for which an answer is used again
_TOKEN: Final = "/latest/api/token"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"


class Credentials(TypedDict):
    """Credentials for obstore."""

    access_key_id: str
    secret_access_key: str
    token: str | None
    expires_at: datetime | None


@dataclass(frozen=True)
class ProfileCredentials:
    """Provider of the credentials of a profile; a pickle contains only its name.

    Parameters
    ----------
    profile : str
        Name of the profile in ``~/.aws/credentials`` and ``~/.aws/config``.
    """

    profile: str

    def __call__(self) -> Credentials:
        """Return the current credentials of the profile."""
        settings = _profiles().get(self.profile, {})
        if "aws_access_key_id" in settings and "aws_secret_access_key" in settings:
            return {
                "access_key_id": settings["aws_access_key_id"],
                "secret_access_key": settings["aws_secret_access_key"],
                "token": settings.get("aws_session_token"),
                "expires_at": None,
            }
        return self._from_botocore()

    def _from_botocore(self) -> Credentials:
        named = f"the profile {self.profile!r} of AWS"
        try:
            from botocore.session import Session  # type: ignore[import-untyped] # optional
        except ImportError as error:
            raise StoreError(f"{named} requires botocore: pip install botocore") from error
        try:
            found = Session(profile=self.profile).get_credentials()
            keys = None if found is None else found.get_frozen_credentials()
        except Exception as error:  # those of commands and services
            raise StoreError(f"{named}: {error}") from None
        if keys is None:
            raise StoreError(f"{named} has no credentials")
        return {
            "access_key_id": keys.access_key,
            "secret_access_key": keys.secret_key,
            "token": keys.token,
            "expires_at": getattr(found, "_expiry_time", None),
        }


def with_aws_settings(options: Mapping[str, Any], store: str) -> dict[str, Any]:
    """Add settings and credentials of the profile, or anonymous access without credentials."""
    options = dict(options)
    asked = options.pop("profile", None)
    named = asked or os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
    given = {_plain(name) for name in {*options, *options.get("config", {})}}
    try:
        profiles = _profiles()
    except (OSError, Error) as error:
        message = str(error).splitlines()[0]
        raise StoreError(f"the configuration of AWS cannot be read: {message}", store) from None
    if named and named not in profiles:
        known = f"; known: {', '.join(sorted(profiles))}" if profiles else ""
        raise StoreError(f"the profile {named!r} of AWS does not exist{known}", store)
    settings = profiles.get(named or "default", {})
    for name, setting, variables in (
        ("region", "region", {"AWS_REGION", "AWS_DEFAULT_REGION"}),
        ("endpoint", "endpoint_url", {"AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}),
    ):
        if setting in settings and name not in given and not variables & os.environ.keys():
            options[name] = settings[setting]
    if given & _KEYS or (not asked and any(name in os.environ for name in _FOUND_BY_OBSTORE)):
        return options
    if "aws_access_key_id" in settings or any(name in settings for name in _BY_BOTOCORE):
        options["credential_provider"] = ProfileCredentials(named or "default")
    elif problem := _no_role({**options.get("config", {}), **options}):
        log("credentials", "%s: no credentials of AWS were found%s; access is anonymous",
            store, problem,
        )  # fmt: skip
        options["skip_signature"] = True
    elif _ENDPOINT in os.environ and "metadata_endpoint" not in given:
        options["metadata_endpoint"] = os.environ[_ENDPOINT]  # a variable that obstore ignores
    return options


def _plain(name: str) -> str:
    """Return the short name of an option."""
    short = str(name).lower().removeprefix("aws_")
    return "endpoint" if short in ("endpoint_url", "endpoint_url_s3") else short


def _no_role(options: Mapping[str, Any]) -> str | None:
    """Return why the metadata service has no credentials, for a message; None if it has some."""
    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return " (the metadata service is disabled)"
    own = {_plain(name): value for name, value in options.items()}
    endpoint = (
        own.get("metadata_endpoint")
        or os.environ.get("AWS_METADATA_ENDPOINT")
        or os.environ.get(_ENDPOINT)
    )
    if not endpoint and not _is_ec2():
        return " (this machine is not in EC2)"
    first = own.get("imdsv1_fallback") or os.environ.get("AWS_IMDSV1_FALLBACK", "")
    endpoint = str(endpoint or DEFAULT_ENDPOINT)
    problem = find_role_problem(endpoint, str(first).lower() in ("true", "1"))
    return f" ({problem})" if problem else None


def _is_ec2() -> bool:
    """Return whether this machine is an instance of EC2, by what its firmware says."""
    for path, text in _FIRMWARE.items():
        try:
            if text in path.read_text().lower():
                return True
        except OSError:
            continue
    return False


def _profiles() -> dict[str, dict[str, str]]:
    """Return the settings of each profile; those in the file of credentials take precedence."""
    profiles: dict[str, dict[str, str]] = {}
    for variable, name, prefix in (
        ("AWS_CONFIG_FILE", "config", "profile "),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", ""),
    ):
        path = Path(os.environ.get(variable) or f"~/.aws/{name}").expanduser()
        parser = ConfigParser(interpolation=None, strict=False)
        parser.read(path)  # ignores a missing file
        for section in parser.sections():
            if section == "default" or section.startswith(prefix):
                profile = section.removeprefix(prefix).strip()
                profiles.setdefault(profile, {}).update(parser[section])
    return profiles


# --- the role of an instance of EC2 ---

_answers: dict[tuple[str, bool], tuple[float, str]] = {}
_asking = threading.Lock()


def find_role_problem(endpoint: str, first_version: bool) -> str:
    """Return why there are no credentials of a role; empty if there are.

    Takes at most a few seconds if the service does not answer.
    """
    with _asking:
        when, problem = _answers.get((endpoint, first_version), (0.0, ""))
        if not when or time.monotonic() - when > _KEPT:
            problem = _request(endpoint, first_version)
            _answers[endpoint, first_version] = time.monotonic(), problem
        return problem


def _request(endpoint: str, first_version: bool) -> str:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection  # slow to import

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
