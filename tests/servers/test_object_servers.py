"""The servers of object stores start, answer their own clients, are killed, start again."""

import pytest

pytest_plugins = ["servers.fixtures"]


def s3_client(server):
    boto3 = pytest.importorskip("boto3")

    return boto3.client(
        "s3",
        endpoint_url=server.url,
        region_name=server.region,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
    )


def test_moto_has_an_empty_bucket_after_each_start(s3_server):
    client = s3_client(s3_server)
    client.put_object(Bucket=s3_server.bucket, Key="a/b", Body=b"0123456789")
    part = client.get_object(Bucket=s3_server.bucket, Key="a/b", Range="bytes=2-4")
    assert part["Body"].read() == b"234"
    s3_server.kill()
    s3_server.start()
    assert client.list_objects_v2(Bucket=s3_server.bucket)["KeyCount"] == 0
    client.put_object(Bucket=s3_server.bucket, Key="c", Body=b"")
    s3_server.reset()
    assert client.list_objects_v2(Bucket=s3_server.bucket)["KeyCount"] == 0
