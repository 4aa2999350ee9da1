"""The process of moto: it checks the condition of a PUT or DELETE and then changes the object.

A lock makes these two steps one, as in the service.
"""

from __future__ import annotations

import threading
from typing import Any

from moto.s3.responses import S3Response
from moto.server import main

_lock = threading.Lock()


def one_at_a_time(change: Any) -> Any:
    def changed(self: Any) -> Any:
        with _lock:
            return change(self)

    return changed


S3Response.put_object = one_at_a_time(S3Response.put_object)
S3Response.delete_object = one_at_a_time(S3Response.delete_object)
main()
