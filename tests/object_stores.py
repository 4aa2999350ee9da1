"""Object stores on the servers of the tests."""

import json
from uuid import uuid4

from zarr_stores.object import ObjectStore

# What fails shall fail at once.
NO_RETRIES = {"max_retries": 0}
FEW_RETRIES = {"max_retries": 2, "backoff": {"init_backoff": 0.01, "max_backoff": 0.05}}


def s3_options(server, url=None, **further):
    """What reaches a server of S3, or a proxy before it."""
    return {
        "endpoint": url or server.url,
        "region": server.region,
        "access_key_id": server.access_key,
        "secret_access_key": server.secret_key,
        "retry_config": NO_RETRIES,
        **further,
    }


def s3_store(server, url=None, place=None, **further):
    """A store in a part of the bucket that nobody else uses."""
    options = s3_options(server, url, **further)
    return ObjectStore.from_url(place or f"s3://{server.bucket}/{uuid4()}", **options)


def same_place(store, server, url=None, **further):
    """Another object for the same place, perhaps through a proxy."""
    return s3_store(server, url, store.url, **further)


def s3_environment(server):
    """The same as variables of the environment."""
    return {
        "AWS_ENDPOINT": server.url,
        "AWS_REGION": server.region,
        "AWS_ACCESS_KEY_ID": server.access_key,
        "AWS_SECRET_ACCESS_KEY": server.secret_key,
    }


def azure_environment(server):
    """What reaches a server of Azure."""
    return {
        "AZURE_STORAGE_ENDPOINT": server.url,
        "AZURE_STORAGE_ACCOUNT_NAME": server.account,
        "AZURE_STORAGE_ACCOUNT_KEY": server.key,
    }


def gcs_environment(url):
    """What reaches the emulator of Google by an address."""
    account = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    return {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account), "GOOGLE_BASE_URL": url}
