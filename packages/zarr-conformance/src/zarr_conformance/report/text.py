"""Text for terminals, XML and TOML, with control characters escaped."""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters except newlines, lone surrogates, and what XML 1.0 does not permit.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # fmt: skip


def printable(text: str) -> str:
    """Return a text with control characters escaped."""
    return _ESCAPED.sub(lambda match: ascii(match.group())[1:-1], text)


def truncate(text: str, length: int) -> str:
    """Return a text, or its beginning and the number of omitted characters."""
    if len(text) <= length:
        return text
    return f"{text[:length]}… ({len(text) - length} more characters)"


def pretty_json(value: Any, width: int = 88) -> str:
    """Format JSON with indentation; values that fit into a line are not broken."""
    return _pretty(value, width, 0)


def _pretty(value: Any, width: int, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + 2 * depth <= width or not isinstance(value, dict | list) or depth > 40:
        return line
    space = "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(k, ensure_ascii=False)}: {_pretty(item, width, depth + 1)}" for k, item in value.items()]  # fmt: skip
        opened, closed = "{", "}"
    else:
        parts = [_pretty(item, width, depth + 1) for item in value]
        opened, closed = "[", "]"
    inside = f",\n{space}".join(parts)
    return f"{opened}\n{space}{inside}\n{'  ' * depth}{closed}"
