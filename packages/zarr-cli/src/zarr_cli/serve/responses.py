"""JSON responses."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping


class JsonResponse(Response):
    """A JSON response, which is not cached; NaN and infinities become strings."""

    media_type = "application/json"

    def __init__(
        self, value: Any, status_code: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(value, status_code, {"Cache-Control": "no-store", **(headers or {})})

    def render(self, content: Any) -> bytes:
        try:
            text = _json(content)
        except ValueError:  # NaN or infinities, as in attributes of version 2
            text = _json(_replace_non_finite(content))
        return text.encode("utf-8", "backslashreplace")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _replace_non_finite(value: Any) -> Any:
    """Return the value with NaN and infinities replaced by strings."""
    if isinstance(value, dict):
        return {name: _replace_non_finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_non_finite(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    return value
