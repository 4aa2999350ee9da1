"""Whether tests may be skipped where their servers are missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from servers.process import Server

REQUIRED = "ZARR_CORE_REQUIRE_SERVERS"


def required() -> bool:
    """Whether a test fails, and is not skipped, where its server is missing."""
    asked = os.environ.get(REQUIRED) or os.environ.get("CI") or ""
    return asked.lower() not in ("", "0", "false", "no")


def need(kind: type[Server]) -> None:
    """Skip the test, or fail it, where a server cannot run."""
    reason = kind.missing()
    if reason is not None:
        if required():
            pytest.fail(f"{reason}; {REQUIRED}=0 lets such tests be skipped", pytrace=False)
        pytest.skip(reason)
