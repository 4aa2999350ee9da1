"""Object store servers start, respond to common clients, and restart after a kill."""

import asyncio
import json

import pytest
from servers.azure_server import AzureServer
from servers.s3_server import SeaweedServer

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
    s3_server.create_bucket("another")
    s3_server.reset()
    assert client.list_objects_v2(Bucket=s3_server.bucket)["KeyCount"] == 0
    assert [bucket["Name"] for bucket in client.list_buckets()["Buckets"]] == [s3_server.bucket]


def test_seaweed_has_what_it_acknowledged_before_it_was_killed(own_server):
    server = own_server(SeaweedServer)
    client = s3_client(server)
    for number in range(3):
        for _ in range(10):
            client.put_object(Bucket=server.bucket, Key=f"key/{number}", Body=b"%d" % number)
        server.kill()
        server.start()
        for earlier in range(number + 1):
            answer = client.get_object(Bucket=server.bucket, Key=f"key/{earlier}")
            assert answer["Body"].read() == b"%d" % earlier


def test_seaweed_minds_conditions(s3_durable):
    client = s3_client(s3_durable)
    s3_durable.create_bucket("conditions")
    client.put_object(Bucket="conditions", Key="key", Body=b"1", IfNoneMatch="*")
    with pytest.raises(client.exceptions.ClientError, match="PreconditionFailed"):
        client.put_object(Bucket="conditions", Key="key", Body=b"2", IfNoneMatch="*")


def use(store):
    """Write, read and list with obstore."""
    obstore = pytest.importorskip("obstore")

    async def run():
        await obstore.put_async(store, "a/b", b"0123456789")
        part = await obstore.get_range_async(store, "a/b", start=2, length=3)
        listed = [item["path"] async for page in obstore.list(store) for item in page]
        return bytes(part), listed

    return asyncio.run(run())


def test_azurite_has_an_empty_container_after_each_start(own_server):
    store = pytest.importorskip("obstore.store")
    azure_server = own_server(AzureServer)

    def connect():
        return store.AzureStore(
            azure_server.container,
            account_name=azure_server.account,
            account_key=azure_server.key,
            endpoint=azure_server.url,
            client_options={"allow_http": True},
        )

    assert use(connect()) == (b"234", ["a/b"])
    azure_server.kill()
    azure_server.start()
    assert connect().list().collect() == []
    azure_server.create_container("another")


def test_the_gcs_server_can_be_read_by_obstore(gcs_server, proxy_before):
    store = pytest.importorskip("obstore.store")
    import http.client

    connection = http.client.HTTPConnection(gcs_server.host, gcs_server.port, timeout=60)
    path = f"/upload/storage/v1/b/{gcs_server.bucket}/o?uploadType=media&name=a%2Fb"
    connection.request("POST", path, b"0123456789")
    assert connection.getresponse().status == 200
    connection.close()
    proxy = proxy_before(gcs_server)
    key = {"gcs_base_url": proxy.url, "disable_oauth": True, "client_email": ""}
    key |= {"private_key": "", "private_key_id": ""}
    reader = store.GCSStore(
        gcs_server.bucket,
        service_account_key=json.dumps(key),
        client_options={"allow_http": True},
    )
    assert bytes(reader.get_range("a/b", start=2, length=3)) == b"234"
    gcs_server.kill()
    gcs_server.start()
    assert reader.list().collect() == []
    assert proxy.traffic.requests == 2
