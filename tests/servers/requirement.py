"""Skip or fail tests whose servers or compiled modules are missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from servers.process import Server

REQUIRED = "ZARR_CORE_REQUIRE_SERVERS"


def required() -> bool:
    """Return whether a test fails, instead of being skipped, if its server is missing."""
    asked = os.environ.get(REQUIRED) or os.environ.get("CI") or ""
    return asked.lower() not in ("", "0", "false", "no")


def unavailable(reason: str, *, allow_module_level: bool = False) -> NoReturn:
    """Skip or fail the test, or all of a module, because a program is not installed."""
    if required():
        pytest.fail(f"{reason}; {REQUIRED}=0 lets such tests be skipped", pytrace=False)
    pytest.skip(reason, allow_module_level=allow_module_level)


def need(kind: type[Server]) -> None:
    """Skip or fail the test if a server cannot run."""
    reason = kind.missing()
    if reason is not None:
        unavailable(reason)
