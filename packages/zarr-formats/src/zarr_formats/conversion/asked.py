"""What a user asks a conversion to change besides the format."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

KEEP = "keep"
"""Leaves a part of the layout as it is in the source."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The layout that is asked for; every part is ``"keep"`` or a form of ``create_array``.

    Parameters
    ----------
    chunks, shards, filters, compressors, serializer, fill_value
        As for :func:`zarr_core.create_array`, or ``"keep"``.
    chunk_key_encoding
        As for :func:`zarr_core.create_array`; None to keep the keys if the format has them.
    """

    chunks: Any = KEEP
    shards: Any = KEEP
    filters: Any = KEEP
    compressors: Any = KEEP
    serializer: Any = KEEP
    fill_value: Any = KEEP
    chunk_key_encoding: Any = None

    def layout(self) -> dict[str, Any]:
        """The parts that are asked for, as arguments of ``create_array``."""
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        del given["chunk_key_encoding"]
        return {name: value for name, value in given.items() if not is_keep(value)}


def is_keep(value: Any) -> bool:
    """Whether a part is left as it is; arrays are compared with nothing."""
    return isinstance(value, str) and value == KEEP
