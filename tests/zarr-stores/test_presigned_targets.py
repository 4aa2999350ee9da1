"""References to presigned URLs of an S3 server that verifies signatures."""

import json
import time
import traceback

import botocore.session
import numpy as np
import pytest
import zarr_core as zarr
from botocore.config import Config
from object_stores import s3_store
from zarr_core.extension import StoreReadError
from zarr_stores.references import ReferenceStore

pytest_plugins = ["servers.fixtures"]
DATA = np.arange(4000, dtype="int32").reshape(40, 100)


@pytest.fixture
def references(s3_durable):
    """References to the chunks of an array: one without a length, the others with."""
    return references_to(s3_durable)


def references_to(s3_durable, seconds=3600):
    store = s3_store(s3_durable)
    zarr.create_array(store, data=DATA, chunks=(20, 50))
    client = botocore.session.get_session().create_client(
        "s3",
        endpoint_url=s3_durable.url,
        region_name=s3_durable.region,
        aws_access_key_id=s3_durable.access_key,
        aws_secret_access_key=s3_durable.secret_key,
        config=Config(s3={"addressing_style": "path"}, signature_version="s3v4"),
    )
    prefix = store.url.rpartition("/")[2]

    def presigned(key):
        place = {"Bucket": s3_durable.bucket, "Key": f"{prefix}/{key}"}
        return client.generate_presigned_url("get_object", Params=place, ExpiresIn=seconds)

    found = {key: [presigned(key), 0, store.getsize(key)] for key in store.list_prefix("c/")}
    found["c/0/0"] = found["c/0/0"][:1]
    return {"zarr.json": bytes(store.get("zarr.json")).decode(), **found}


def test_a_file_of_references_to_presigned_urls_is_read(references, tmp_path):
    assert "?X-Amz-Algorithm=" in references["c/1/1"][0]
    file = tmp_path / "refs.json"
    file.write_text(json.dumps({"version": 1, "refs": references}))
    array = zarr.open(file, mode="r")
    assert np.array_equal(array[...], DATA)
    assert array[39, 99] == DATA[39, 99]
    dest = zarr.copy(array, zarr.MemoryStore())
    assert np.array_equal(dest[...], DATA)


def test_an_expired_url_is_reported(s3_durable, tmp_path):
    references = references_to(s3_durable, seconds=1)
    file = tmp_path / "refs.json"
    file.write_text(json.dumps({"version": 1, "refs": references}))
    array = zarr.open(file, mode="r")
    time.sleep(2)
    calls = [lambda: array[...], lambda: array[39, 99], lambda: array.store.get("c/1/1")]
    calls += [lambda: zarr.copy(array, zarr.MemoryStore()), lambda: array.store.open_value("c/1/1")]
    for call in calls:
        with pytest.raises(
            StoreReadError, match=r"c/\d/\d.*403 .*expired; .*create the URL again"
        ) as caught:
            call()
        shown = "".join(traceback.format_exception(caught.value))
        for secret in ("X-Amz", s3_durable.access_key, references["c/1/1"][0][-20:]):
            assert secret not in shown


def test_an_error_of_the_server_does_not_show_the_signature(references):
    url, *part = references["c/1/1"]
    signature = url.rpartition("Signature=")[2]
    other = "0" * len(signature)
    references["c/1/1"] = [url.replace(signature, other), *part]
    array = zarr.open_array(ReferenceStore({"version": 1, "refs": references}), mode="r")
    with pytest.raises(StoreReadError, match="c/1/1.*403") as caught:
        array[...]
    assert other not in str(caught.value)
    assert "X-Amz-Credential" not in str(caught.value)


def test_a_url_with_a_query_without_a_file_is_refused():
    references = {"zarr.json": ["https://example.org?key=1", 0, 10]}
    with pytest.raises(StoreReadError, match="is not the URL of a file"):
        ReferenceStore({"version": 1, "refs": references}).get("zarr.json")
