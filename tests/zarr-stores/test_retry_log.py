"""Repeated requests are logged."""

import logging

from zarr_core.extension import StoreReadError
from zarr_stores.databases.server_store import ServerStore


def test_repeated_request_of_a_server_store(caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")

    class Lost(Exception):
        pass

    class Client:
        _retry_timeout, _server = 60.0, "host"
        _request = ServerStore._request
        calls = 0

        def _failures(self):
            return (Lost,)

        def is_lost(self, error):
            return True

        def _reason(self, error):
            return "connection reset"

        def __str__(self):
            return "redis://host"

        def work(self):
            self.calls += 1
            if self.calls == 1:
                raise Lost
            return 7

    client = Client()
    assert ServerStore.request(client, "k", StoreReadError, "read", client.work) == 7
    [record] = caplog.records
    assert record.name == "zarr_core.retries"
    assert record.getMessage() == (
        "redis://host 'k' cannot be read (connection reset); repeating the request"
    )
