"""Reading an unknown data type as another that its document allows.

Specification: draft of December 2022, "Data types", ``fallback``.  Version 3.0
left it out: there, every data type must be understood.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.registry import hooks
from zarr_core.registry.resolve import make, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.interfaces.data_type import DataType

_warned: set[tuple[str, str]] = set()


def make_data_type(
    definition: ExtensionDefinition,
    fallbacks: Sequence[ExtensionDefinition] = (),
    where: str = "",
    pointer: str = "",
) -> tuple[DataType, ExtensionDefinition | None]:
    """Make a data type, or a fallback of it if it is unknown.

    The setting ``fallback`` decides whether fallbacks are used at all; which one,
    the hook ``zarr_choose_fallback``, otherwise the first that is provided.

    Parameters
    ----------
    definition : ExtensionDefinition
        The data type that the document names.
    fallbacks : sequence of ExtensionDefinition
        The data types that it allows instead, the best first.
    where, pointer : str
        Node, and JSON pointer of the data type; for errors and the warning.

    Returns
    -------
    data_type : DataType
        The data type.
    used : ExtensionDefinition or None
        The fallback that was used; the array must then be read only.

    Raises
    ------
    UnknownExtensionError
        If neither the data type nor, where permitted, a fallback of it is provided.
    ExtensionError
        If what is provided is broken or refuses its configuration; no fallback is
        tried then.

    Warns
    -----
    UserWarning
        Once for a node, if a fallback is used and the setting is ``"warn"``.
    """
    try:
        resolve("data_type", definition, where, pointer)
    except UnknownExtensionError:
        policy = config.settings.fallback
        usable = [] if policy == "error" else [item for item in fallbacks if _is_known(item)]
        if not usable:
            raise
    else:
        return _make(definition, where, pointer), None
    used = hooks.choose_fallback(definition, usable, where) or usable[0]
    data_type = _make(used, where, pointer)
    if policy == "warn" and (where, definition.name) not in _warned:
        _warned.add((where, definition.name))
        warnings.warn(
            f"{where or 'array'}: the data type {definition.name!r} is not installed; its elements "
            f"are read as {used.name!r}, and cannot be written. "
            "zarr_core.config.set(fallback='use') says that this is meant",
            UserWarning,
            stacklevel=2,
        )
    return data_type, used


def _is_known(definition: ExtensionDefinition) -> bool:
    try:
        resolve("data_type", definition)
    except UnknownExtensionError:
        return False
    return True


def _make(definition: ExtensionDefinition, where: str, pointer: str) -> DataType:
    data_type: DataType | None = make("data_type", definition, where, pointer)
    assert data_type is not None  # a data type is never left out
    return data_type
