"""Import of optional libraries on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zarr_core.extension import CodecError
from zarr_core.registry.hints import other_providers


def import_optional(module: str, extra: str, codec: str) -> Any:
    """Import a library that an extra installs; ``codec`` requires it, for messages."""
    try:
        return import_module(module)
    except Exception as error:  # an import may fail in any way
        others = other_providers("codec", codec, "zarr-codecs")
        raise CodecError(
            f"the codec {codec!r} requires the package {module}, which cannot be imported "
            f"({type(error).__name__}: {error}); install it with "
            f"pip install 'zarr-codecs[{extra}]'{others and f'. {others}'}"
        ) from error
