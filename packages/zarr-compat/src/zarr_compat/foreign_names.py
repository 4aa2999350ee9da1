"""What to use instead of names of zarr-python, h5py, xarray and NumPy that zarr-core does not have.

``foreign_names.json`` has the names for each advice.
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from functools import cache
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr_core import create_array

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["advice_on", "advice_on_attribute", "explain_arguments"]

_UNKNOWN = "unexpected keyword argument: "


def advice_on_attribute(obj: Any, name: str | None) -> str:
    """Return what to use instead of an attribute; empty if that is unknown."""
    module = isinstance(obj, ModuleType)
    owners = [obj.__name__] if module else [kind.__name__ for kind in type(obj).__mro__]
    for owner in owners:
        if instead := advice_on(owner, name):
            return f"; {instead}"
    similar = _similar(name or "", dir(obj))
    return f"; did you mean {similar[0]}?" if similar else ""


def explain_arguments(function: Callable[..., Any], error: TypeError) -> None:
    """Add to the message of an error about arguments of a function what to pass instead."""
    message, trace = str(error), error.__traceback__
    ours = message.startswith(_UNKNOWN)
    direct = trace is not None and (trace.tb_next is None or trace.tb_next.tb_next is None)
    if "; " in message or not (ours or direct):
        return
    advice = [
        re.sub(".*" + pattern + ".*", text, message)
        for text, pattern in _tables()["messages"].items()
        if re.search(pattern, message)
    ]
    if ours or "unexpected keyword argument '" in message:
        names = re.findall(r"\w+(?=, |$|'$)", message.removeprefix(_UNKNOWN))
        advice = [text for name in names for text in _advice_on_argument(name, function)]
    error.args = (message + "".join(f"; {text}" for text in advice),)


def _advice_on_argument(name: str, function: Callable[..., Any]) -> list[str]:
    if advice := advice_on("arguments", name):
        return [advice]
    parameters = signature(function).parameters
    known = set(parameters)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        known.update(signature(create_array).parameters)
    renamed = advice_on("renamed", name)
    return [
        f"did you mean {it}?" for it in ([renamed] if renamed in known else _similar(name, known))
    ]


def _similar(name: str, known: Collection[str]) -> list[str]:
    return get_close_matches(name, known, n=1, cutoff=0.75)


def advice_on(owner: str, name: str | None) -> str:
    """Return what to use instead of a name of an owner; empty if that is unknown."""
    found = (advice for advice, names in _tables().get(owner, {}).items() if name in names.split())
    return next(found, "").format(name=name)


@cache
def _tables() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    )
    return tables
