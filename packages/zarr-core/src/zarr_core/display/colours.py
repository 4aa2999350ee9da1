"""Colours that are ordered by lightness, so that they are read without telling hues apart."""

from __future__ import annotations

# Equal steps of lightness in OKLab, from blue to yellow: those who cannot tell red from
# green see the same order, and so does a printer without colours.
SCALE = (
    "#2b3168", "#1f4c7d", "#00678a", "#04808f", "#079b90", "#4ab289", "#82c57b", "#bcd46c",
    "#f8df63",
)  # fmt: skip

CHUNK = "#12a09b"
"""A chunk in a drawing of the grid; on white and on black."""

WARNING = "#c2790a"
"""What deserves attention; on white and on black."""
