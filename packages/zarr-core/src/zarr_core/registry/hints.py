"""What to say about an extension that nobody provides."""

from __future__ import annotations

from zarr_core.errors import UnknownExtensionError


def unknown(kind: str, name: str, where: str) -> UnknownExtensionError:
    """The error about an unknown extension, with similar names and what to install."""
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only to explain

    from zarr_core.registry.registry import names  # noqa: PLC0415 - lazy: only to explain

    return UnknownExtensionError(kind, name, where, get_close_matches(name, names(kind)))
