"""Libraries that not everybody needs, imported when a chunk first needs one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zarr_core.extension import CodecError


def optional(module: str, extra: str, codec: str) -> Any:
    """Import a library that an extra of this distribution installs.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        Name of the extra.
    codec : str
        The codec that needs it; for messages.

    Raises
    ------
    CodecError
        If it is not there, or fails.
    """
    try:
        return import_module(module)
    except Exception as error:  # an import may fail in any way
        raise CodecError(
            f"the codec {codec!r} needs the package {module} ({type(error).__name__}: {error}): "
            f"pip install 'zarr-codecs[{extra}]'"
        ) from error
