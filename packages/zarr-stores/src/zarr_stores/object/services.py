"""A table of the services of object stores and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zarr_stores.secrets import AZURE

if TYPE_CHECKING:
    from collections.abc import Mapping


class Service(NamedTuple):
    """A service that obstore supports."""

    kind: str
    """Name of the class of obstore."""
    schemes: tuple[str, ...]
    """Schemes of URLs; messages use the first one."""
    bucket: str = ""
    """The setting that names the bucket."""
    prefix: str = ""
    """Prefix of the names of settings."""
    servers: tuple[str, ...] = ()
    """Settings that name the server or account."""
    credentials: str = ""
    """Settings for credentials, for messages."""
    names: Mapping[str, str] = {}
    """Settings by their names in s3fs, gcsfs or adlfs; an option in a mapping has two names."""
    bulk: int = 1
    """Maximum number of keys that one request removes."""
    has_suffix_ranges: bool = True
    """Whether ranges from the end are supported."""
    max_concurrency: int = 256

    @property
    def variables(self) -> str:
        """Prefix of the variables of the environment."""
        return f"{self.prefix.partition('_')[0].upper()}_" if self.prefix else "-"


_SERVICES: Final = (
    Service(
        "S3Store", ("s3", "s3a"), "bucket", "aws", ("endpoint", "endpoint_url", "endpoint_url_s3"),
        "access_key_id and secret_access_key",
        {
            "key": "access_key_id",
            "username": "access_key_id",
            "secret": "secret_access_key",
            "password": "secret_access_key",
            "token": "session_token",
            "anon": "skip_signature",
            "endpoint_url": "endpoint",
            "requester_pays": "request_payer",
            "client_kwargs aws_access_key_id": "access_key_id",
            "client_kwargs aws_secret_access_key": "secret_access_key",
            "client_kwargs aws_session_token": "session_token",
            "client_kwargs endpoint_url": "endpoint",
            "client_kwargs region_name": "region",
            "config_kwargs connect_timeout": "connect_timeout",
            "config_kwargs read_timeout": "timeout",
            "config_kwargs region_name": "region",
            "s3_additional_kwargs ServerSideEncryption": "server_side_encryption",
            "s3_additional_kwargs SSEKMSKeyId": "sse_kms_key_id",
            "s3_additional_kwargs RequestPayer": "request_payer",
        },
        bulk=1000,
    ),
    Service(
        "GCSStore", ("gs", "gcs"), "bucket", "google", ("base_url",),
        "service_account_key or bearer_token",
        {"anon": "skip_signature", "endpoint_url": "base_url"},
    ),
    Service(
        "AzureStore", ("az", *AZURE), "container_name", "azure_storage",
        ("account_name", "endpoint"), "account_key or sas_token", {"anon": "skip_signature"},
        bulk=256, has_suffix_ranges=False,
    ),
    # Many servers limit the connections of all clients to a few hundred.
    Service("HTTPStore", ("http", "https"), max_concurrency=64),
)  # fmt: skip
BY_KIND: Final = {service.kind: service for service in _SERVICES}
"""Services by the class of obstore."""
BY_SCHEME: Final = {scheme: service for service in _SERVICES for scheme in service.schemes}
"""Services by the scheme of a URL."""
OTHER: Final = Service("", ("object",))
"""For classes of obstore without a service, such as a store in memory."""
