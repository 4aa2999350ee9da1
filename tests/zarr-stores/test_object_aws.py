"""Profiles of AWS, options of s3fs, and anonymous access."""

import inspect
import json
import logging
import pickle
import sys

import pytest
from loopback import responding
from object_stores import NO_RETRIES
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
    assert "s3://b/p: no credentials of AWS were found; access is anonymous" in caplog.text
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


# --- the metadata service of EC2 ---

ROLE = "/latest/meta-data/iam/security-credentials/"
DATE = "Thu, 01 Jan 1970 00:00:01 GMT"


@pytest.mark.parametrize("way", ["option", "config", "AWS_METADATA_ENDPOINT"])
@pytest.mark.parametrize("role", ["", "reader"])
def test_a_metadata_service_that_is_named_is_asked(files, monkeypatch, role, way):
    def respond(request):
        if request.method == "PUT":
            return 200, {}, b"token"
        if role and request.path == ROLE:
            return 200, {}, role.encode()
        if role and request.path == ROLE + role:
            found = {"AccessKeyId": "of-the-role", "SecretAccessKey": "s", "Token": "t"}
            found |= {"Code": "Success", "Expiration": "2100-01-01T00:00:00Z"}
            return 200, {}, json.dumps(found).encode()
        return 404, {}, b""

    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    value = 200, {"ETag": '"1"', "Last-Modified": DATE}, b"v"
    with responding(respond) as service, responding(lambda request: value) as server:
        options = {"endpoint": server.url, "retry_config": NO_RETRIES}
        match way:
            case "option":
                options["metadata_endpoint"] = service.url
            case "config":
                options["config"] = {"aws_metadata_endpoint": service.url}
            case _:
                monkeypatch.setenv(way, service.url)
        store = ObjectStore.from_url("s3://b/p", **options)
        if role:
            assert bytes(store.get("k")) == b"v"
            assert "Credential=of-the-role" in server.requests[0].headers["Authorization"]
        else:
            with pytest.raises(StoreError, match="the machine provides none.*'anon': True"):
                store.get("k")


@pytest.mark.parametrize(
    ("vendor", "disabled", "anonymous"),
    [("QEMU", "", True), ("Amazon EC2", "", False), ("Amazon EC2", "true", True)],
)
def test_only_instances_of_ec2_ask_the_metadata_service(
    files, tmp_path, monkeypatch, vendor, disabled, anonymous
):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", disabled)
    firmware = tmp_path / "sys_vendor"
    firmware.write_text(vendor)
    monkeypatch.setattr(aws, "_FIRMWARE", (tmp_path / "missing", firmware))
    assert ("skip_signature" in ObjectStore.from_url("s3://b/p").store.config) is anonymous


# --- options of s3fs ---


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
            {"config_kwargs": {"read_timeout": 7, "max_pool_connections": 50}},
            {"timeout": 7},
        ),
        (
            "s3",
            {"s3_additional_kwargs": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}},
            {"server_side_encryption": "aws:kms", "sse_kms_key_id": "k"},
        ),
        ("s3", {"use_ssl": True, "version_aware": False, "session": None}, {}),
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
