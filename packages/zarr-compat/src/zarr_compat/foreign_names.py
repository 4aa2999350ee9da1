"""What to use instead of names of zarr-python, h5py, xarray and NumPy that zarr-core does not have.

``foreign_names.json`` has the names for each advice.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["advice_on", "advice_on_arguments", "advice_on_attribute"]


def advice_on_attribute(obj: Any, name: str | None) -> str:
    """Return what to use instead of an attribute; empty if that is unknown."""
    module = isinstance(obj, ModuleType)
    owners = [obj.__name__] if module else [kind.__name__ for kind in type(obj).__mro__]
    for owner in owners:
        if instead := advice_on(owner, name):
            return f"; {instead}"
    similar = _similar(name or "", dir(obj))
    return f"; did you mean {similar[0]}?" if similar else ""


def advice_on_arguments(names: Collection[str], known: Collection[str]) -> str:
    """Return what to pass instead of unknown arguments; empty if that is unknown."""
    advice = ""
    for name in names:
        renamed = advice_on("renamed", name)
        meant = [renamed] if renamed in known else _similar(name, known)
        text = advice_on("arguments", name) or (f"did you mean {meant[0]}?" if meant else "")
        advice += f"; {text}" if text else ""
    return advice


def _similar(name: str, known: Collection[str]) -> list[str]:
    return get_close_matches(name, known, n=1, cutoff=0.75)


def advice_on(owner: str, name: str | None) -> str:
    """Return what to use instead of a name of an owner; empty if that is unknown."""
    advices = (
        advice for advice, names in _tables().get(owner, {}).items() if name in names.split()
    )
    return next(advices, "").format(name=name)


@cache
def _tables() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    )
    return tables
