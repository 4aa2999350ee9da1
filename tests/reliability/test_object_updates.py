"""A change of an object is made exactly once, even if responses are lost."""

import threading
from contextlib import ExitStack
from uuid import uuid4

import pytest
from object_stores import (
    FEW_RETRIES,
    NO_RETRIES,
    azure_environment,
    gcs_environment,
    s3_environment,
)
from servers import faults
from servers.gcs_writes import WritableGcs
from servers.proxy import Proxy
from servers.s3_server import MotoServer
from waits import wait_until
from zarr_core.extension import StoreError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


@pytest.fixture(scope="module", params=["s3_server", "azure_server", "gcs_writable"])
def server(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def proxies(server):
    """Several proxies for the server."""
    with ExitStack() as stack:
        yield [stack.enter_context(Proxy(server.port)) for _ in range(2)]


@pytest.fixture
def proxy(proxies):
    proxies[0].reset()
    return proxies[0]


@pytest.fixture
def at(server, monkeypatch):
    """A function that creates stores for one location, optionally through a proxy."""
    google = isinstance(server, WritableGcs)
    if google:
        place, given = f"gs://{server.bucket}", gcs_environment(server.url)
    elif isinstance(server, MotoServer):
        place, given = f"s3://{server.bucket}", s3_environment(server)
    else:
        place, given = f"az://{server.container}", azure_environment(server)
    place = f"{place}/{uuid4()}"
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    def make(proxy=server, retry_config=FEW_RETRIES):
        url = server.url.replace(f":{server.port}", f":{proxy.port}")
        options = {"base_url" if google else "endpoint": url, "retry_config": retry_config}
        return ObjectStore.from_url(place, **options)

    return make


def number(store):
    value = store.get("n")
    return None if value is None else int(bytes(value))


class Adding:
    """A change that adds one, and counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, reader):
        self.calls += 1
        return b"%d" % (1 + (0 if reader is None else int(bytes(reader.read(0, reader.size)))))


AFTERWARDS = {
    "reset": faults.lose_answer(),
    "closed": faults.lose_answer(politely=True),
    "500": faults.deny_having_done(),
    "502": faults.deny_having_done(502),
    "503": faults.deny_having_done(503),
}
BEFORE = {
    "dropped": faults.drop(),
    "half": faults.cut_request(),
    "500": faults.answer(500),
    "503": faults.slow_down(),
}


def test_completed_work_is_not_repeated(at, proxy):
    direct = at()
    for retries in (FEW_RETRIES, NO_RETRIES):
        store = at(proxy, retries)
        for name, fault in AFTERWARDS.items():
            for old in (None, 5):
                if old:
                    direct.set("n", b"5")
                adding = Adding()
                proxy.inject(fault, method="PUT")
                store.update("n", adding)
                assert (number(direct), adding.calls) == ((old or 0) + 1, 1), name
                direct.erase("n")
    assert len(proxy.traffic.faults) == 4 * len(AFTERWARDS)


def test_overflow_is_processed(at, proxy):
    direct, store = at(), at(proxy)
    for fault in BEFORE.values():
        direct.set("n", b"5")
        adding = Adding()
        proxy.inject(fault, method="PUT")
        store.update("n", adding)
        assert (number(direct), adding.calls) == (6, 1)
    assert len(proxy.traffic.faults) == len(BEFORE)


@pytest.mark.parametrize("retries", [NO_RETRIES, FEW_RETRIES], ids=["hasty", "patient"])
def test_unknown_facts_are_reported(at, proxy, retries):
    direct = at()
    direct.set("n", b"5")
    proxy.inject(faults.lose_answer(), method="PUT")
    proxy.inject(faults.denied(), method="GET", skip=1, times=faults.FOREVER)
    with pytest.raises(StoreError, match="'n': .*it is unknown whether the new value was stored"):
        at(proxy, retries).update("n", Adding())
    assert number(direct) == 6


@pytest.mark.parametrize("went_in", [True, False])
@pytest.mark.parametrize("others", ["change", "replace", "remove"])
def test_others_come_while_the_answer_is_lost(at, proxy, went_in, others):
    """Another writer changes the object between the lost response and the second attempt."""
    direct = at()
    direct.set("n", b"5")
    proxy.inject(faults.lose_answer() if went_in else faults.drop(), method="PUT")
    proxy.inject(faults.hold(), method="PUT")
    failed = []

    def work():
        try:
            at(proxy).update("n", Adding())
        except StoreError as error:
            failed.append(str(error))

    worker = threading.Thread(target=work)
    worker.start()
    wait_until(lambda: len(proxy.traffic.exchanges) >= 3)  # the second attempt waits
    assert number(direct) == 5 + went_in
    if others == "change":
        direct.update("n", Adding())
    elif others == "replace":
        direct.set("n", b"50")
    else:
        direct.erase("n")
    proxy.clear()
    worker.join()
    expected = {"change": 7, "replace": 50, "remove": 1}[others]
    assert number(direct) == expected
    # A value that does not depend on the old one does not show whether the change was made.
    assert ["unknown" in said for said in failed] == [True] * (others == "replace")


def test_many_writers_and_many_lost_answers(at, proxies):
    """Two stores with different proxies, which do not share locks."""
    direct = at()
    direct.set("n", b"0")
    done, unknown = [], []
    harm = [*AFTERWARDS.values(), *BEFORE.values()]

    def work(proxy):
        store = at(proxy)
        for _ in range(20):
            try:
                store.update("n", Adding())
                done.append(1)
            except StoreError as error:
                unknown.append("unknown" in str(error))

    workers = []
    for writer, proxy in enumerate(proxies):
        proxy.reset()
        for place, fault in enumerate(harm):
            proxy.inject(fault, method="PUT", skip=writer + 2 * place)
        workers.append(threading.Thread(target=work, args=(proxy,)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(done) <= number(direct) <= len(done) + len(unknown)
    assert len(done) >= 35
    assert all(unknown)
