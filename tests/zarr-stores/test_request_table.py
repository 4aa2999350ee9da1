"""The tables of requests in docs/clouds.md are what the stores do."""

import importlib.util
from pathlib import Path

import pytest
import request_counts
from servers.requirement import need

SCRIPT = Path(__file__).parents[2] / "scripts" / "document_requests.py"
TOLERANCE = 0.03  # of bytes: dates and identifiers differ in length

pytest_plugins = ["servers.fixtures"]


@pytest.fixture(scope="module")
def documented():
    spec = importlib.util.spec_from_file_location("document_requests", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.documented()


@pytest.mark.parametrize("name", request_counts.STORES)
def test_the_tables_are_current(documented, name):
    need(request_counts.STORES[name][0])
    with request_counts.served(name) as (store, proxy):
        for operation in request_counts.operations(name):
            *expected, kilobytes = documented[name][operation]
            # Threads of a busy machine may send some requests later: then wait for longer.
            for silence in request_counts.SILENCES:
                found = request_counts.count(store, proxy, operation, silence)
                if [found.requests, found.trips] == expected:
                    break
            assert (operation, found.requests, found.trips) == (operation, *expected)
            assert found.nbytes / 1000 == pytest.approx(kilobytes, rel=TOLERANCE, abs=1)
    assert documented[name].keys() == set(request_counts.operations(name))
