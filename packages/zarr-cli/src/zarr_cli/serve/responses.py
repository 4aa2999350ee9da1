"""JSON responses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from zarr_cli.output import replace_non_finite

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
            text = _json(replace_non_finite(content))
        return text.encode("utf-8", "backslashreplace")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
