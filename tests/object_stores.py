"""Object stores on the servers of the tests."""

import json
from uuid import uuid4

from zarr_stores.object import ObjectStore

# Fail without retries.
NO_RETRIES = {"max_retries": 0}
FEW_RETRIES = {"max_retries": 2, "backoff": {"init_backoff": 0.01, "max_backoff": 0.05}}


def s3_options(server, url=None, **further):
    """Options that connect to an S3 server, or to a proxy for it."""
    return {
        "endpoint": url or server.url,
        "region": server.region,
        "access_key_id": server.access_key,
        "secret_access_key": server.secret_key,
        "retry_config": NO_RETRIES,
        **further,
    }


def s3_store(server, url=None, place=None, **further):
    """A store with a prefix of the bucket that no other test uses."""
    options = s3_options(server, url, **further)
    return ObjectStore.from_url(place or f"s3://{server.bucket}/{uuid4()}", **options)


def same_place(store, server, url=None, **further):
    """Another object for the same location, optionally through a proxy."""
    return s3_store(server, url, store.url, **further)


def s3_environment(server):
    """The same as environment variables."""
    return {
        "AWS_ENDPOINT": server.url,
        "AWS_REGION": server.region,
        "AWS_ACCESS_KEY_ID": server.access_key,
        "AWS_SECRET_ACCESS_KEY": server.secret_key,
    }


def azure_environment(server):
    """Options that connect to an Azure server."""
    return {
        "AZURE_STORAGE_ENDPOINT": server.url,
        "AZURE_STORAGE_ACCOUNT_NAME": server.account,
        "AZURE_STORAGE_ACCOUNT_KEY": server.key,
    }


def gcs_environment(url):
    """Options that connect to the emulator of Google Cloud at an address."""
    account = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    return {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account), "GOOGLE_BASE_URL": url}
