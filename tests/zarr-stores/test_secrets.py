"""Messages, tracebacks, repr and pickles do not contain secrets of URLs."""

import pickle
import traceback

import pytest
import zarr_core as zarr
from zarr_core.extension import StoreError, ZarrError

SECRET = "S3CR3TPW"
OBJECT = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl")
SERVERS = ("redis", "rediss", "mongodb", "postgresql")
FILES = ("file", "sqlite", "lmdb", "dbm")
FSSPEC = ("fsspec+s3", "fsspec+https", "ftp", "sftp", "reference+https", "nosuch")
SCHEMES = ("http", "https", *OBJECT, *SERVERS, *FILES, *FSSPEC)
URLS = [
    *(f"{scheme}://user:{SECRET}@/x.zarr" for scheme in SCHEMES),
    *(f"{scheme}://user:{SECRET}@[::bad/x" for scheme in SCHEMES),
    *(f"{scheme}://user:{SECRET}@127.0.0.1:bad/x" for scheme in SCHEMES),
    *(f"{scheme}://127.0.0.1:1/x?sig={SECRET}&X-Amz-Signature={SECRET}" for scheme in SCHEMES),
    *(f"{scheme}://127.0.0.1:1/x?pasword={SECRET}" for scheme in SERVERS),
    f"az://KEY:{SECRET}@bucket/x.zarr",
    f"https://127.0.0.1:1/a.zip?sig={SECRET}",
    f"https://user:{SECRET}@127.0.0.1:1/a.zip",
    f"zip://::https://user:{SECRET}@127.0.0.1:1/a.zip",
    f"reference::https://user:{SECRET}@127.0.0.1:1/r.json?sig={SECRET}",
    f"simplecache::https://user:{SECRET}@127.0.0.1:1/a",
    f"http://user:{SECRET}@127.0.0.1:1/a.zip?token={SECRET}|nonsense:b|zarr3:",
]
FEW_TRIES = {"retry_config": {"max_retries": 0, "retry_timeout": 1}}


def options_for(url):
    scheme = url.partition("://")[0]
    if scheme in SERVERS:
        return {"retry_timeout": 0, "connect_timeout": 1}
    return FEW_TRIES if scheme in (*OBJECT, "http", "https") else {}


@pytest.mark.parametrize("url", URLS)
def test_no_error_and_no_store_shows_a_secret_of_its_url(url, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "unknown")
    store, text = outcome(lambda: zarr.resolve_store_path(url, storage_options=options_for(url))[0])
    if store is not None:
        pickled, refusal = outcome(lambda: pickle.dumps(store))
        text += f"{store!r} {store} {store.url} {pickled!r}" + refusal
        if url.partition("://")[0] not in OBJECT:  # which would connect to the Internet
            text += outcome(lambda: store.get("zarr.json"))[1]
    assert SECRET not in text


def outcome(function):
    """Return the result of a function, and the text of its exception."""
    try:
        return function(), ""
    except ZarrError as error:
        return None, shown(error)


def shown(error):
    """Return a traceback with chained exceptions, without source lines."""
    parts = traceback.TracebackException.from_exception(error, lookup_lines=False)
    texts, waiting = [], [parts]
    while waiting:
        part = waiting.pop()
        texts += part.format_exception_only()
        if part.__cause__ is not None:
            waiting.append(part.__cause__)
        elif part.__context__ is not None and not part.__suppress_context__:
            waiting.append(part.__context__)
    return "".join(texts) + repr(error.args)


def test_a_url_that_is_not_valid_is_an_error_without_its_password():
    for scheme in ("https", "s3", "gs", "az"):
        with pytest.raises(StoreError) as caught:
            zarr.open(f"{scheme}://user:{SECRET}@[::bad/x", mode="r")
        assert str(caught.value) == f"{scheme}://[::bad/x: the URL is not valid (Invalid IPv6 URL)"
        assert caught.value.__cause__ is None


def test_a_bucket_that_is_missing_does_not_show_the_key():
    with pytest.raises(StoreError, match=r"^s3:///a\.zarr: the URL of a bucket has no user"):
        zarr.open(f"s3://KEY:{SECRET}@/a.zarr", mode="r")


def test_the_container_of_azure_is_not_a_user():
    store, _ = zarr.resolve_store_path("abfs://field@account.dfs.core.windows.net/x")
    assert str(store) == "az://field/x at account"
    with pytest.raises(StoreError, match="abfs://field@account"):
        zarr.resolve_store_path(
            "abfs://field@account.dfs.core.windows.net/x", storage_options={"nosuch": 1}
        )
