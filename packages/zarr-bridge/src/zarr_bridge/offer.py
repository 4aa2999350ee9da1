"""Registration of codecs of zarr-core with zarr-python.

Use ``from zarr_bridge.offer import register; register()`` before arrays are opened.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import TYPE_CHECKING

from zarr_core.extension import Provider, ZarrError

if TYPE_CHECKING:
    from collections.abc import Sequence


def register(*names: str, prefer: bool = False) -> list[str]:
    """Register codecs that are installed for zarr-core with zarr-python.

    Parameters
    ----------
    *names : str
        Names of the codecs; all installed codecs if none is given.
    prefer : bool
        Whether zarr-python uses them instead of other codecs of the same names, by its
        setting ``codecs``.  Otherwise codecs that zarr-python already has are kept.

    Returns
    -------
    list of str
        Names of the registered codecs, in order.

    Raises
    ------
    ValueError
        If a codec is not installed, or is provided by several distributions.
    ExtensionLoadError
        If a codec that is requested by name cannot be imported.

    Warns
    -----
    UserWarning
        For each codec that cannot be registered, if no names are given.
    """
    from zarr.core.config import config  # imports zarr-python
    from zarr.registry import register_codec

    from zarr_bridge.zarr_python_codecs import adapt_to_zarr_python

    installed = _installed()
    chosen: dict[str, str] = {}
    done: list[str] = []
    for name in names or sorted(installed):
        try:
            codec = adapt_to_zarr_python(
                name, _single_provider(name, installed.get(name, ())).load()
            )
        except (ZarrError, ValueError) as error:
            if names:
                raise
            warnings.warn(f"codec {name!r} is not registered: {error}", UserWarning, stacklevel=2)
            continue
        label = f"zarr_bridge.{name}"
        if prefer:
            chosen[name] = label
        elif name not in config.get("codecs", {}) and _is_registered_elsewhere(name):
            continue  # zarr-python would use the one that is registered last
        register_codec(name, codec, qualname=label)
        done.append(name)
    if chosen:
        config.set({"codecs": {**config.get("codecs", {}), **chosen}})
    return done


def _installed() -> dict[str, list[Provider]]:
    from importlib.metadata import entry_points

    providers: dict[str, list[Provider]] = defaultdict(list)
    for point in entry_points(group="zarr_core.codec"):
        if point.dist is not None and not point.name.startswith("v2."):
            who = point.dist.name, point.dist.version
            providers[point.name].append(Provider("codec", point.name, point.value, *who))
    return providers


def _single_provider(name: str, providers: Sequence[Provider]) -> Provider:
    if not providers:
        raise ValueError(f"codec {name!r} is not installed for zarr-core")
    if len(providers) > 1:
        raise ValueError(f"codec {name!r} is provided by {' and '.join(map(str, providers))}")
    return providers[0]


def _is_registered_elsewhere(name: str) -> bool:
    """Return whether zarr-python has a codec of this name from another distribution."""
    from zarr.registry import get_codec_class  # imports zarr-python

    try:
        with warnings.catch_warnings(action="ignore"):
            codec = get_codec_class(name)
    except Exception:  # depends on the version of zarr-python; plugins may raise anything
        return False
    return codec.__module__ != "zarr_bridge.zarr_python_codecs"
