"""The table of requests in docs/clouds.md is what the stores do."""

import importlib.util
import re
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


def numbers(cell):
    requests, trips, kilobytes = map(int, re.findall(r"\d+", cell.replace(",", "")))
    return (requests, trips), kilobytes


@pytest.mark.parametrize("name", request_counts.STORES)
def test_the_table_is_current(documented, name):
    need(request_counts.STORES[name][0])
    with request_counts.served(name) as (store, proxy):
        for operation in request_counts.operations(name):
            expected, kilobytes = numbers(documented[name][operation])
            # Threads of a busy machine may send some requests later: then wait for longer.
            for silence in request_counts.SILENCES:
                found = request_counts.count(store, proxy, operation, silence)
                if (found.requests, found.trips) == expected:
                    break
            assert (operation, found.requests, found.trips) == (operation, *expected)
            assert found.nbytes / 1000 == pytest.approx(kilobytes, rel=TOLERANCE, abs=1)
    assert {operation for operation, cell in documented[name].items() if cell != "-"} == set(
        request_counts.operations(name)
    )
