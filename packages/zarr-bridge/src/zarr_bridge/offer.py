"""Codecs of this library, offered to zarr-python.

``from zarr_bridge.offer import register; register()`` is all that a program needs.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import TYPE_CHECKING

from zarr_core.extension import Provider, ZarrError

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUP = "zarr_core.codec"
_NOT_OF_VERSION_3 = "v2."


def register(*names: str, prefer: bool = False) -> list[str]:
    """Give zarr-python the codecs that are installed for this library.

    Parameters
    ----------
    *names : str
        Which; all that are installed if none is given.
    prefer : bool
        Whether zarr-python is to use them in place of its own, or of others, by its
        setting ``codecs``.  Otherwise those that it has already stay in use.

    Returns
    -------
    list of str
        The names that were registered, in order.

    Raises
    ------
    ValueError
        If a name is not installed, or by several distributions.
    ExtensionLoadError
        If one that was asked for by name cannot be imported.

    Warns
    -----
    UserWarning
        For each that was not asked for by name, and is left out for such a reason.
    """
    from zarr.core.config import config  # noqa: PLC0415 - lazy: imports zarr-python
    from zarr.registry import register_codec  # noqa: PLC0415 - as above

    from zarr_bridge.offered import offered  # noqa: PLC0415 - as above

    found = _installed()
    chosen: dict[str, str] = {}
    done: list[str] = []
    for name in names or sorted(found):
        try:
            codec = offered(name, _only(name, found.get(name, ())).load())
        except (ZarrError, ValueError) as error:
            if names:
                raise
            warnings.warn(f"the codec {name!r} is not offered: {error}", UserWarning, stacklevel=2)
            continue
        label = f"zarr_bridge.{name}"
        if prefer:
            chosen[name] = label
        elif name not in config.get("codecs", {}) and _is_anothers(name):
            continue  # beside it zarr-python would take whichever came last
        register_codec(name, codec, qualname=label)
        done.append(name)
    if chosen:
        config.set({"codecs": {**config.get("codecs", {}), **chosen}})
    return done


def _installed() -> dict[str, list[Provider]]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - lazy: few need it

    found: dict[str, list[Provider]] = defaultdict(list)
    for point in entry_points(group=_GROUP):
        if point.dist is not None and not point.name.startswith(_NOT_OF_VERSION_3):
            who = point.dist.name, point.dist.version
            found[point.name].append(Provider("codec", point.name, point.value, *who))
    return found


def _only(name: str, providers: Sequence[Provider]) -> Provider:
    if not providers:
        raise ValueError(f"no codec called {name!r} is installed for zarr-core")
    if len(providers) > 1:
        raise ValueError(f"{' and '.join(map(str, providers))} both provide it")
    return providers[0]


def _is_anothers(name: str) -> bool:
    """Whether zarr-python has a codec of this name that is not from here."""
    from zarr.registry import get_codec_class  # noqa: PLC0415 - lazy: imports zarr-python

    try:
        with warnings.catch_warnings(action="ignore"):
            codec = get_codec_class(name)
    except Exception:  # which one, depends on the version; also those of plugins
        return False
    return codec.__module__ != "zarr_bridge.offered"
