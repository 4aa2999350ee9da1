"""Colours in the order of lightness, which do not require distinguishing hues."""

from __future__ import annotations

# Equal steps of lightness in OKLab, from blue to yellow.  The order is also visible with
# colour blindness and in black-and-white print.
SCALE = (
    "#2b3168", "#1f4c7d", "#00678a", "#04808f", "#079b90", "#4ab289", "#82c57b", "#bcd46c",
    "#f8df63",
)  # fmt: skip

CHUNK = "#12a09b"
"""Chunks in drawings; visible on white and on black."""

WARNING = "#c2790a"
"""Warnings; visible on white and on black."""
