"""Failures between this library and an object store: reported as such, never as missing chunks."""

from functools import partial

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import FEW_RETRIES, NO_RETRIES, s3_options, same_place
from servers import faults
from store_contract import get_into
from waits import eventually
from zarr_core.extension import ByteRange, StoreError, StoreReadError, ValueReplacedError
from zarr_stores._attempts import reached
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
VALUE = bytes(range(256)) * 1000
# The first request of a kind to a server is sent in another way than later ones.
REQUESTS = ("first", "later")


@pytest.fixture
def store(s3_server, direct, proxy):
    """The same location, through the proxy, which has not answered yet, without retries."""
    proxy.reset()
    direct.set("k", VALUE)
    reached.clear()
    return same_place(direct, s3_server, proxy.url)


@pytest.fixture
def patient(s3_server, direct, store, proxy):
    """The same location, through the proxy, with retries."""
    return same_place(direct, s3_server, proxy.url, retry_config=FEW_RETRIES)


READS = {
    "get": lambda store: store.get("k"),
    "get_limited": lambda store: get_into(store, "k", memoryview(bytearray(len(VALUE)))),
    "open_value": lambda store: store.open_value("k", ByteRange(-900)).read(len(VALUE) - 900, 900),
    "parts": lambda store: store.get_partial_values([("k", ByteRange(1000, 9000))]),
}
HEADS = {
    "exists": lambda store: store.exists("k"),
    "getsize": lambda store: store.getsize("k"),
    "generation": lambda store: store.generation("k"),
    "list": lambda store: list(store.list()),
    "list_dir": lambda store: store.list_dir(""),
}
BROKEN = {
    "dropped": faults.drop(),
    "reset": faults.reset(20),
    "truncated": faults.truncate(20),
    "too long": faults.wrong_length(100),
    "503": faults.slow_down(),
    "429": faults.slow_down(429),
    "403": faults.denied(),
    "500": faults.answer(500),
    "clock": faults.answer(403, body="<Error><Code>RequestTimeTooSkewed</Code></Error>"),
    "bucket": faults.answer(404, body="<Error><Code>NoSuchBucket</Code></Error>"),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("fault", BROKEN)
def test_a_failed_read_is_an_error_that_names_store_and_key(store, proxy, fault, read):
    for _ in REQUESTS:
        proxy.inject(BROKEN[fault], method="GET")
        with pytest.raises(StoreReadError) as caught:
            READS[read](store)
        assert store.url in str(caught.value)
        assert "'k'" in str(caught.value)
        assert proxy.traffic.requests == 1
        READS[read](store)
        proxy.forget()


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("fault", ["dropped", "503", "403", "500", "clock"])
def test_a_failed_look_is_an_error(store, proxy, fault, head):
    proxy.inject(BROKEN[fault])
    with pytest.raises(StoreReadError, match=store.url if "list" in head else "'k'"):
        HEADS[head](store)


@pytest.mark.parametrize("fault", ["dropped", "503", "403", "500", "bucket"])
def test_a_failed_write_is_an_error_and_changes_nothing(store, direct, proxy, fault):
    for method, call in (
        ("PUT", lambda: store.set("k", b"new")),
        ("PUT", lambda: store.set("n", b"new")),
        ("PUT", lambda: store.update("k", lambda reader: b"new")),
        ("POST", lambda: store.erase("k")),
    ):
        proxy.inject(BROKEN[fault], method=method)
        with pytest.raises(StoreError, match="'[kn]'"):
            call()
    assert bytes(direct.get("k")) == VALUE
    assert list(direct.list()) == ["k"]


def test_half_a_body_is_never_a_value(store, direct, proxy):
    proxy.inject(faults.cut_request(70_000), method="PUT", times=2)
    for key in ("k", "n"):
        with pytest.raises(StoreError, match=f"'{key}'"):
            store.set(key, bytes(200_000))
    assert bytes(direct.get("k")) == VALUE
    assert direct.get("n") is None


def test_rejected_connections(store, proxy):
    with proxy.refusing():
        for call in (
            *(partial(call, store) for call in HEADS.values()),
            lambda: store.set("k", b"new"),
            lambda: store.erase("k"),
        ):
            with pytest.raises(StoreError, match=store.url):
                call()
    assert bytes(store.get("k")) == VALUE


def test_a_server_that_hangs(s3_server, direct, store, proxy):
    hasty = same_place(direct, s3_server, proxy.url, client_options={"timeout": "300ms"})
    for fault in (faults.stall(100), faults.delay(2)):
        proxy.inject(fault)
        with pytest.raises(StoreReadError, match="'k'"):
            hasty.get("k")
    assert bytes(eventually(lambda: hasty.get("k"), StoreReadError)) == VALUE


# --- parts ---


@pytest.mark.parametrize("read", ["get_limited", "open_value", "parts"])
@pytest.mark.parametrize(
    "fault",
    [faults.wrong_range(7), faults.wrong_range(0, -7), faults.wrong_length(-7)],
    ids=["moved", "short", "cut"],
)
def test_another_part_than_was_asked_for_is_rejected(store, proxy, fault, read):
    proxy.inject(fault, method="GET")
    with pytest.raises(StoreReadError, match="'k'"):
        READS[read](store)
    assert proxy.traffic.faults


def test_parts_are_taken_from_whole_values_of_a_server_that_ignores_ranges(store, proxy):
    proxy.inject(faults.ignore_range(), method="GET", times=faults.FOREVER)
    buffer = memoryview(bytearray(len(VALUE)))
    assert get_into(store, "k", buffer) == len(VALUE)
    assert buffer == VALUE
    assert READS["open_value"](store) == VALUE[-900:]
    assert [bytes(part) for part in READS["parts"](store)] == [VALUE[1000:10_000]]
    assert proxy.traffic.faults


def test_a_value_that_is_replaced_while_it_is_read(store, direct):
    with store.open_value("k", ByteRange(0, 10)) as reader:
        assert bytes(reader.read(1000, 10)) == VALUE[1000:1010]
        direct.set("k", VALUE[::-1])
        assert bytes(reader.read(2, 8)) == VALUE[2:10]
        with pytest.raises(ValueReplacedError, match="'k'"):
            reader.read(2000, 10)
        direct.set("k", b"short")
        with pytest.raises(ValueReplacedError):
            reader.read(2000, 10)
        direct.erase("k")
        with pytest.raises(ValueReplacedError):
            reader.read(2000, 10)


def test_a_key_that_goes_between_list_and_get(store, proxy):
    proxy.inject(faults.not_found(), method="GET")
    assert store.get("k") is None


def test_objects_that_are_not_keys(s3_server, direct):
    """A bucket can contain any keys: none leads outside, none is hidden."""
    import http.client

    signed = f"AWS4-HMAC-SHA256 Credential=x/20200101/{s3_server.region}/s3/aws4_request"
    prefix = direct.url.removeprefix("s3://")
    direct.set("a/k", b"v")
    connection = http.client.HTTPConnection(s3_server.host, s3_server.port)
    for name in ("", "a/folder/", "a//b", "../out"):
        connection.request("PUT", f"/{prefix}/{name}", b"", {"Authorization": signed})
        assert connection.getresponse().read() == b""
        if "//" in name or ".." in name:
            with pytest.raises(StoreReadError, match="cannot be listed"):
                list(direct.list())
            connection.request("DELETE", f"/{prefix}/{name}", headers={"Authorization": signed})
            connection.getresponse().read()
        assert bytes(direct.get("a/k")) == b"v"
    direct.set("a/folder/k", b"v")
    assert sorted(direct.list()) == ["a/folder/k", "a/k"]
    assert direct.list_dir("a/") == (["a/k"], ["a/folder/"])
    assert direct.list_dir("a/folder/") == (["a/folder/k"], [])
    connection.close()


def test_a_key_that_the_service_finds_too_long(store, proxy):
    proxy.inject(faults.answer(400, body="<Error><Code>KeyTooLongError</Code></Error>"))
    with pytest.raises(StoreError, match="KeyTooLongError"):
        store.set("k" * 1100, b"v")


# --- retries ---


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("fault", ["dropped", "503", "429", "500", "reset", "truncated"])
def test_reads_are_repeated(patient, proxy, fault, read):
    for _ in REQUESTS:
        proxy.forget()
        proxy.inject(BROKEN[fault], method="GET", times=2)
        assert READS[read](patient)
        assert proxy.traffic.requests == 3


def test_the_rest_of_a_body_that_breaks_off_is_requested(patient, proxy):
    for _ in REQUESTS:
        proxy.inject(faults.reset(180_000), method="GET")
        buffer = memoryview(bytearray(len(VALUE)))
        assert get_into(patient, "k", buffer) == len(VALUE)
        assert buffer == VALUE
    assert proxy.traffic.faults == ["reset", "reset"]


def test_requests_for_further_pages_of_a_listing_are_repeated(patient, proxy):
    keys = [f"k{number:04}" for number in range(1001)]
    prefix = patient.url.split("/", 3)[3]
    *first, last = (
        f"<Contents><Key>{prefix}/{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
        '<ETag>"1"</ETag><Size>1</Size></Contents>'
        for key in keys
    )
    first.append("<NextContinuationToken>x</NextContinuationToken>")
    pages = [faults.answer(200, body=f"<L>{''.join(items)}</L>") for items in (first, [last])]
    for _ in REQUESTS:
        proxy.inject(faults.slow_down(), query="continuation-token", times=2)
        proxy.inject(pages[1], query="continuation-token", times=faults.FOREVER)
        proxy.inject(pages[0], times=faults.FOREVER)
        assert list(patient.list()) == keys
        proxy.clear()


@pytest.mark.parametrize("fault", [faults.denied(), faults.answer(400)], ids=["403", "400"])
def test_permanent_errors_are_not_retried(patient, proxy, fault):
    proxy.inject(fault, times=faults.FOREVER)
    with pytest.raises(StoreReadError):
        patient.get("k")
    with pytest.raises(StoreError):
        patient.set("k", b"new")
    assert proxy.traffic.requests == 2


def test_a_write_is_repeated_if_its_answer_is_lost(patient, direct, proxy):
    proxy.inject(faults.lose_answer(), method="PUT")
    patient.set("k", b"new")
    assert bytes(direct.get("k")) == b"new"
    assert proxy.traffic.faults == ["lose_answer"]


# --- arrays ---


def test_no_fault_is_taken_for_a_missing_chunk(s3_server, direct, store, proxy):
    values = np.arange(1, 65, dtype="int32").reshape(8, 8)
    zarr.create_array(direct, path="a", data=values, chunks=(4, 4), compressors=None)
    zarr.create_array(direct, path="s", data=values, chunks=(4, 4), shards=(8, 8))
    for name in ("a", "s"):
        array = zarr.open_array(store, path=name)
        for fault in BROKEN.values():
            proxy.inject(fault, method="GET", skip=1 if name == "a" else 0)
            try:  # a value that is longer than its chunk is requested again
                read = array[...] if name == "a" else array[1, 1]
            except StoreReadError:
                pass
            else:
                assert np.array_equal(read, values if name == "a" else values[1, 1])
            assert proxy.traffic.faults
            proxy.clear()
        assert np.array_equal(array[...], values)


@pytest.mark.parametrize("service", ["s3", "az"])
def test_missing_bucket(s3_server, azure_server, service):
    options = s3_options(s3_server)
    if service == "az":
        names = {"endpoint": "url", "account_name": "account", "account_key": "key"}
        options = {name: getattr(azure_server, value) for name, value in names.items()}
        options["retry_config"] = NO_RETRIES
    store = ObjectStore.from_url(f"{service}://nothing-here/at/all", **options)
    for call in (
        *(partial(call, store) for call in (READS | HEADS).values()),
        lambda: get_into(store, "k", memoryview(bytearray())),
        lambda: store.set("k", b"v"),
        lambda: store.update("k", lambda reader: b"v"),
        lambda: store.erase("k"),
        lambda: store.erase_values(["k", "l"]),
        lambda: zarr.open(store),
        lambda: zarr.create_group(store),
    ):
        with pytest.raises(StoreError, match="bucket or container does not exist"):
            call()
