"""Profiles of AWS, options of s3fs, and anonymous access."""

import inspect
import json
import logging
import pickle
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from loopback import responding
from object_stores import NO_RETRIES
from servers.ports import free_port
from waits import PATIENCE
from zarr_core.errors import StoreError
from zarr_stores.object import ObjectStore, aws
from zarr_stores.object.aws import ProfileCredentials
from zarr_stores.object.options import translate_options

pytest_plugins = ["servers.fixtures"]

VARIABLES = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
    "AWS_DEFAULT_REGION", "AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
)  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return a function that writes the files of AWS, whose settings are the only ones."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def write(config="", credentials=""):
        (tmp_path / "config").write_text(config)
        (tmp_path / "credentials").write_text(credentials)

    write()
    return write


def profile_files(server):
    """Settings in the file of settings, keys in that of credentials."""
    config = (
        f"[default]\nregion = {server.region}\nendpoint_url = {server.url}\n"
        f"[profile other]\nregion = {server.region}\nendpoint_url = {server.url}\n"
        "[profile wrong]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:9\n"
    )
    keys = f"aws_access_key_id = {server.access_key}\naws_secret_access_key = {server.secret_key}\n"
    return config, f"[default]\n{keys}[other]\n{keys}[wrong]\n{keys}"


def test_a_profile_has_settings_and_credentials(files, s3_durable, monkeypatch):
    files(*profile_files(s3_durable))
    url = f"s3://{s3_durable.bucket}/profiles"
    store = ObjectStore.from_url(url)
    store.set("k", b"v")
    named = ObjectStore.from_url(url, profile="other")
    assert bytes(named.get("k")) == b"v"
    data = pickle.dumps(named)
    assert s3_durable.secret_key.encode() not in data
    assert bytes(pickle.loads(data).get("k")) == b"v"
    monkeypatch.setenv("AWS_PROFILE", "wrong")
    options = {"retry_config": NO_RETRIES}
    with pytest.raises(StoreError, match="127.0.0.1:9"):
        ObjectStore.from_url(url, **options).get("k")
    given = {"region": s3_durable.region, "endpoint": s3_durable.url}
    assert bytes(ObjectStore.from_url(url, **given).get("k")) == b"v"


def test_a_command_provides_credentials(files, s3_durable, tmp_path):
    pytest.importorskip("botocore")
    config, _ = profile_files(s3_durable)
    answer = {"Version": 1, "AccessKeyId": s3_durable.access_key}
    answer = json.dumps(answer | {"SecretAccessKey": s3_durable.secret_key})
    program = tmp_path / "credentials.py"
    program.write_text(f"print({answer!r})")
    command = f"{sys.executable} {program}"
    files(config + f"[profile command]\ncredential_process = {command}\n")
    given = {"region": s3_durable.region, "endpoint": s3_durable.url, "profile": "command"}
    store = ObjectStore.from_url(f"s3://{s3_durable.bucket}/command", **given)
    store.set("k", b"v")
    assert bytes(store.get("k")) == b"v"


def test_a_profile_without_botocore(files, monkeypatch):
    files("[profile sso]\nsso_session = mine\nregion = eu-west-1\n")
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(StoreError, match="profile 'sso' of AWS requires botocore: pip install"):
        ProfileCredentials("sso")()


def test_a_profile_that_does_not_exist(files):
    files("[default]\nregion = eu-west-1\n[profile one]\n")
    with pytest.raises(
        StoreError, match="profile 'two' of AWS does not exist; known: default, one"
    ):
        ObjectStore.from_url("s3://b/p", profile="two")


def test_files_that_cannot_be_parsed(files):
    files("no section\n")
    with pytest.raises(StoreError, match="configuration of AWS cannot be read: File contains no"):
        ObjectStore.from_url("s3://b/p")


def test_access_without_credentials_is_anonymous(files, caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")
    store = ObjectStore.from_url("s3://b/p", region="eu-west-1")
    assert store.store.config["skip_signature"] in (True, "true")
    assert (
        "credentials of AWS were found (the metadata service is disabled); access is" in caplog.text
    )
    denied = b"<Error><Code>AccessDenied</Code></Error>"
    with responding(lambda request: (403, {}, denied)) as server:
        store = ObjectStore.from_url("s3://b/p", endpoint=server.url)
        for call in (lambda: store.get("k"), lambda: store.list_dir("")):
            with pytest.raises(
                StoreError, match="AccessDenied; the request was anonymous, because"
            ):
                call()
        assert not any("Authorization" in request.headers for request in server.requests)
    given = {"key": "a", "secret": "b"}
    assert "skip_signature" not in ObjectStore.from_url("s3://b/p", **given).store.config


ROLE = "/latest/meta-data/iam/security-credentials/"


HUNG_SECONDS = 15
"""Far more than the store waits, and than a busy machine needs for the rest."""


class MetadataService:
    """The metadata service of an instance, with or without a role."""

    def __init__(self, role="", token_status=200, role_status=200, seconds=0.0):
        self.role = role
        self.token_status = token_status
        self.role_status = role_status
        self.seconds = seconds

    def respond(self, request):
        time.sleep(self.seconds)
        if request.method == "PUT":
            return self.token_status, {}, b"token" if self.token_status == 200 else b""
        if self.token_status == 200 and request.headers["X-aws-ec2-metadata-token"] != "token":
            return 401, {}, b""
        if request.path == ROLE:
            return (self.role_status, {}, self.role.encode()) if self.role else (404, {}, b"")
        if request.path == ROLE + self.role:
            found = {"AccessKeyId": "of-the-role", "SecretAccessKey": "s", "Token": "t"}
            found |= {"Code": "Success", "Expiration": "2100-01-01T00:00:00Z"}
            return 200, {}, json.dumps(found).encode()
        return 404, {}, b""


@contextmanager
def bucket():
    """A server that has one value for everyone."""
    with responding(lambda request: (200, {"ETag": '"1"', "Last-Modified": DATE}, b"v")) as server:
        yield server


DATE = "Thu, 01 Jan 1970 00:00:01 GMT"


@pytest.fixture
def in_ec2(files, monkeypatch):
    """Nothing else than the metadata service has credentials."""
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.delenv("AWS_METADATA_ENDPOINT", raising=False)
    return monkeypatch.setenv


@pytest.mark.parametrize("way", ["option", "config", "AWS_METADATA_ENDPOINT", "of the AWS tools"])
@pytest.mark.parametrize("role", ["", "reader"])
def test_an_instance_without_a_role_reads_anonymously(in_ec2, monkeypatch, caplog, role, way):
    monkeypatch.setattr(aws, "_TIMEOUT", PATIENCE)  # the machine may be busy
    caplog.set_level(logging.INFO, logger="zarr_core.credentials")
    with responding(MetadataService(role).respond) as service, bucket() as server:
        options = {"endpoint": server.url, "retry_config": NO_RETRIES}
        match way:
            case "option":
                options["metadata_endpoint"] = service.url
            case "config":
                options["config"] = {"aws_metadata_endpoint": service.url}
            case "of the AWS tools":
                in_ec2("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.url)
            case _:
                in_ec2(way, service.url)
        store = ObjectStore.from_url("s3://b/p", **options)
        assert bytes(store.get("k")) == b"v"
        signatures = [request.headers.get("Authorization") for request in server.requests]
        asked = len(service.requests)
        again = ObjectStore.from_url("s3://b/q", **options)
        assert bytes(again.get("k")) == b"v"
    if role:
        assert "Credential=of-the-role" in signatures[0]
        assert not caplog.records
    else:
        assert signatures == [None]
        assert asked == len(service.requests) == 2  # the answer is kept
        assert (
            caplog.text.count("s3://b/p: no credentials of AWS were found (the machine has no") == 1
        )


@pytest.mark.parametrize(
    ("service", "said"),
    [
        (MetadataService("reader", token_status=403), "answers 403 for a token"),
        (MetadataService("reader", role_status=401), "answers 401 for the role"),
        (MetadataService("reader", seconds=HUNG_SECONDS), "does not answer (timed out)"),
    ],
    ids=["no tokens", "refuses", "hangs"],
)
def test_a_metadata_service_that_fails_does_not_delay(in_ec2, caplog, service, said):
    caplog.set_level(logging.INFO, logger="zarr_core.credentials")
    with responding(service.respond) as running, bucket() as server:
        start = time.monotonic()
        store = ObjectStore.from_url("s3://b/p", endpoint=server.url, metadata_endpoint=running.url)
        assert bytes(store.get("k")) == b"v"
        assert time.monotonic() - start < HUNG_SECONDS
        assert said in caplog.text


@pytest.mark.parametrize("statuses", [(503, 200), (200, 503)])
def test_a_metadata_service_that_is_overloaded_is_not_taken_for_one_without_a_role(
    in_ec2, statuses
):
    service = MetadataService("reader", *statuses)
    with responding(service.respond) as running, bucket() as server:
        options = {"endpoint": server.url, "metadata_endpoint": running.url}
        store = ObjectStore.from_url("s3://b/p", retry_timeout=30, **options)
        waiting = threading.Timer(0.5, service.__init__, ["reader"])
        waiting.start()
        assert bytes(store.get("k")) == b"v"
        assert "Credential=of-the-role" in server.requests[0].headers["Authorization"]
        waiting.join()


def test_a_metadata_service_that_is_not_reachable(in_ec2, caplog):
    caplog.set_level(logging.INFO, logger="zarr_core.credentials")
    with bucket() as server:
        store = ObjectStore.from_url(
            "s3://b/p", endpoint=server.url, metadata_endpoint=f"http://127.0.0.1:{free_port()}"
        )
        assert bytes(store.get("k")) == b"v"
    assert "the metadata service does not answer" in caplog.text


def test_the_first_version_of_the_protocol_is_used_if_permitted(in_ec2):
    service = MetadataService("reader", token_status=403)
    with responding(service.respond) as running, bucket() as server:
        store = ObjectStore.from_url(
            "s3://b/p", endpoint=server.url, metadata_endpoint=running.url, imdsv1_fallback=True
        )
        assert bytes(store.get("k")) == b"v"
        assert "Credential=of-the-role" in server.requests[0].headers["Authorization"]


def test_the_metadata_service_is_only_asked_for_in_ec2(in_ec2, tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO, logger="zarr_core.credentials")
    firmware = tmp_path / "sys_vendor"
    monkeypatch.setattr(aws, "_FIRMWARE", {tmp_path / "missing": "a", firmware: "amazon"})
    asked = []

    def ask(endpoint, first_version):
        asked.append(endpoint)
        return "the machine has no role"

    monkeypatch.setattr(aws, "find_role_problem", ask)
    firmware.write_text("QEMU")
    ObjectStore.from_url("s3://b/p")
    assert (asked, "(this machine is not in EC2)" in caplog.text) == ([], True)
    firmware.write_text("Amazon EC2")
    ObjectStore.from_url("s3://b/p")
    assert asked == [aws.DEFAULT_ENDPOINT]


def test_options_of_s3fs(files, s3_durable):
    options = {
        "key": s3_durable.access_key,
        "secret": s3_durable.secret_key,
        "client_kwargs": {"endpoint_url": s3_durable.url, "region_name": s3_durable.region},
        "requester_pays": True,
        "anon": False,
    }
    store = ObjectStore.from_url(f"s3://{s3_durable.bucket}/s3fs", **options)
    store.set("k", b"v")
    assert bytes(store.get("k")) == b"v"
    assert store.store.config["request_payer"] in (True, "true")
    with pytest.raises(StoreError, match="client_kwargs endpoint_url contradict"):
        ObjectStore.from_url("s3://b/p", endpoint="http://h", client_kwargs={"endpoint_url": "i"})


@pytest.mark.parametrize(
    ("scheme", "given", "expected"),
    [
        ("s3", {"anon": True, "token": "t"}, {"skip_signature": True, "session_token": "t"}),
        ("gs", {"token": "anon"}, {"skip_signature": True}),
        ("az", {"anon": True, "account_name": "a"}, {"skip_signature": True, "account_name": "a"}),
        ("abfs", {"anon": False}, {}),
        ("https", {"key": "k"}, {"key": "k"}),
        (
            "s3",
            {"username": "u", "password": "p"},
            {"access_key_id": "u", "secret_access_key": "p"},
        ),
        (
            "s3",
            {"client_kwargs": {"region_name": "r", "aws_session_token": None}},
            {"region": "r"},
        ),
        (
            "s3",
            {"config_kwargs": {"s3": {"addressing_style": "virtual"}, "read_timeout": 7}},
            {"virtual_hosted_style_request": True, "timeout": 7},
        ),
        (
            "s3",
            {"config_kwargs": {"signature_version": "unsigned", "max_pool_connections": 50}},
            {"skip_signature": True},
        ),
        (
            "s3",
            {"s3_additional_kwargs": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}},
            {"server_side_encryption": "aws:kms", "sse_kms_key_id": "k"},
        ),
        ("s3", {"use_ssl": True, "version_aware": False, "session": None}, {}),
        ("s3", {"use_ssl": False, "endpoint_url": "http://h"}, {"endpoint": "http://h"}),
    ],
)
def test_translated_options(scheme, given, expected):
    assert translate_options(scheme, given, "store") == expected


def test_every_option_of_s3fs_is_known(files):
    """Those that set buffers and caches of s3fs have no effect; the others are in other tests."""
    s3fs = pytest.importorskip("s3fs")
    parameters = inspect.signature(s3fs.S3FileSystem.__init__).parameters.values()
    given = {it.name: it.default for it in parameters if it.default is not inspect.Parameter.empty}
    given |= {"use_listings_cache": False, "listings_expiry_time": 5, "skip_instance_cache": True}
    given |= {"asynchronous": True, "default_block_size": 1 << 20}
    assert ObjectStore.from_url("s3://b/p", **given).url == "s3://b/p"


@pytest.mark.parametrize("token", [None, "T"])
def test_credentials_in_a_profile(files, token):
    lines = "[p]\naws_access_key_id = A\naws_secret_access_key = S\n"
    files(credentials=lines + (f"aws_session_token = {token}\n" if token else ""))
    assert ProfileCredentials("p")() == {
        "access_key_id": "A",
        "secret_access_key": "S",
        "token": token,
        "expires_at": None,
    }
