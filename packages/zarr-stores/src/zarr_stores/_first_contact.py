"""Limits for servers that have never answered: their addresses are probably wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable

CONNECT_SECONDS: Final = 3.5
"""Time limit for a connection, unless an option sets another."""
RETRY_SECONDS: Final = 2.5
"""Time after which no further attempt begins, unless an option sets another."""

FINAL: Final = re.compile(
    r"Name or service not known|nodename nor servname|No address associated|No such host|"
    r"certificate verify failed|InvalidCertificate|WRONG_VERSION_NUMBER|InvalidMessage\("
)
"""Finds errors of connections that the next attempt would repeat, in their texts."""

reached: set[Hashable] = set()
"""Servers that have answered a request of this process."""
