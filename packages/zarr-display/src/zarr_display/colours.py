"""Colours of drawings."""

from __future__ import annotations

CHUNK = "#12a09b"
"""Chunks in drawings; visible on white and on black."""

WARNING = "#c2790a"
"""Warnings; visible on white and on black."""
