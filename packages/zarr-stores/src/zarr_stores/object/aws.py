"""Settings and credentials of AWS that obstore does not find itself.

obstore reads no files of AWS.  Without credentials, it asks the metadata service of EC2 before each
request, but only instances of EC2 have this service.
"""

from __future__ import annotations

import os
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

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
# Files that identify an instance of EC2 and that any user can read; the second is for old ones.
_FIRMWARE: Final = (
    Path("/sys/devices/virtual/dmi/id/sys_vendor"),
    Path("/sys/devices/virtual/dmi/id/bios_version"),
)


class Credentials(TypedDict):
    """Credentials for obstore."""

    access_key_id: str
    secret_access_key: str
    token: str | None
    expires_at: datetime | None


@dataclass(frozen=True)
class ProfileCredentials:
    """Provider of the credentials of a profile of AWS; a pickle contains only its name."""

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
            credentials = Session(profile=self.profile).get_credentials()
            keys = None if credentials is None else credentials.get_frozen_credentials()
        except Exception as error:  # those of commands and services
            raise StoreError(f"{named}: {error}") from None
        if keys is None:
            raise StoreError(f"{named} has no credentials")
        return {
            "access_key_id": keys.access_key,
            "secret_access_key": keys.secret_key,
            "token": keys.token,
            "expires_at": getattr(credentials, "_expiry_time", None),
        }


def with_aws_settings(options: Mapping[str, Any], store: str) -> dict[str, Any]:
    """Add settings and credentials of the profile, or anonymous access without credentials."""
    options = dict(options)
    asked = options.pop("profile", None)
    named = asked or os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
    names = {_plain(name) for name in {*options, *options.get("config", {})}}
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
        if setting in settings and name not in names and not variables & os.environ.keys():
            options[name] = settings[setting]
    if names & _KEYS or (not asked and any(name in os.environ for name in _FOUND_BY_OBSTORE)):
        return options
    if "aws_access_key_id" in settings or any(name in settings for name in _BY_BOTOCORE):
        options["credential_provider"] = ProfileCredentials(named or "default")
    elif not _has_metadata_service({**options.get("config", {}), **options}):
        log("credentials", "%s: no credentials of AWS were found; access is anonymous", store)
        options["skip_signature"] = True
    return options


def _plain(name: str) -> str:
    """Return the short name of an option."""
    short = str(name).lower().removeprefix("aws_")
    return "endpoint" if short in ("endpoint_url", "endpoint_url_s3") else short


def _has_metadata_service(options: Mapping[str, Any]) -> bool:
    """Return whether there may be a service that knows the credentials of this machine."""
    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return False
    stated = "metadata_endpoint" in map(_plain, options) or "AWS_METADATA_ENDPOINT" in os.environ
    return stated or any(map(_names_amazon, _FIRMWARE))


def _names_amazon(path: Path) -> bool:
    try:
        return b"amazon" in path.read_bytes().lower()
    except OSError:  # missing, or readable by administrators only
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
