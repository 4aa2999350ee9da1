"""Registration of codecs of zarr-core with zarr-python.

Use ``from zarr_bridge.offer import register; register()`` before arrays are opened.
"""

from __future__ import annotations

import warnings

from zarr_core.extension import ZarrError
from zarr_core.registry.discovery import usable_names
from zarr_core.registry.resolve import find_class


def register(*names: str) -> list[str]:
    """Register codecs that are installed for zarr-core with zarr-python.

    Parameters
    ----------
    *names : str
        Names of codecs, which zarr-python then uses instead of other codecs of these names.
        Without names, all installed codecs that zarr-python does not have are registered.

    Returns
    -------
    list of str
        Names of the registered codecs.

    Raises
    ------
    UnknownExtensionError, ExtensionLoadError
        If a codec that is requested by name is not installed, or cannot be imported.

    Warns
    -----
    UserWarning
        For each codec that cannot be imported, if no names are given.
    """
    from zarr.core.config import config  # imports zarr-python
    from zarr.registry import register_codec

    from zarr_bridge.zarr_python_codecs import adapt_to_zarr_python

    labels: dict[str, str] = {}
    for name in names or usable_names("codec"):
        if not names and (name.startswith("v2.") or _is_in_zarr_python(name)):
            continue
        try:
            codec = adapt_to_zarr_python(name, find_class("codec", name))  # type: ignore[arg-type]  # a class
        except ZarrError as error:
            if names:
                raise
            warnings.warn(f"codec {name!r} is not registered: {error}", UserWarning, stacklevel=2)
            continue
        labels[name] = f"zarr_bridge.{name}"
        register_codec(name, codec, qualname=labels[name])
    config.set({"codecs": {**config.get("codecs", {}), **labels}})
    return list(labels)


def _is_in_zarr_python(name: str) -> bool:
    """Return whether zarr-python has a codec of this name that is not from this module."""
    from zarr.registry import get_codec_class  # imports zarr-python

    try:
        with warnings.catch_warnings(action="ignore"):
            codec = get_codec_class(name)
    except Exception:  # depends on the version of zarr-python; plugins may raise anything
        return False
    return codec.__module__ != "zarr_bridge.zarr_python_codecs"
