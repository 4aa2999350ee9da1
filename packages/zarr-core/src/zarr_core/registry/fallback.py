"""Fallbacks: data types that are used instead of an unknown one.

Specification: draft of December 2022, "Data types", ``fallback``.  Version 3.0
removed it: every data type must be understood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.printable import quoted
from zarr_core.registry import hooks
from zarr_core.registry.resolve import make, resolve
from zarr_core.user_warning import warn

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
    """Create a data type, or a fallback if it is unknown.

    The setting ``fallback`` determines whether fallbacks are used.  The hook
    ``zarr_choose_fallback`` selects one, by default the first that is installed.

    Parameters
    ----------
    definition : ExtensionDefinition
        The data type in the metadata.
    fallbacks : sequence of ExtensionDefinition
        The fallbacks in the metadata, the best first.
    where, pointer : str
        Node, and JSON pointer of the data type; for errors and the warning.

    Returns
    -------
    data_type : DataType
    used : ExtensionDefinition or None
        The fallback that is used; the array must then be read-only.

    Raises
    ------
    UnknownExtensionError
        If neither the data type nor a permitted fallback is installed.
    ExtensionError
        If the data type is installed but broken, or its configuration is invalid.

    Warns
    -----
    UserWarning
        Once per node, if a fallback is used and the setting is ``"warn"``.
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
        warn(
            f"{where or 'array'}: the data type {quoted(definition.name)} is not installed; "
            f"its elements are read as {quoted(used.name)}, and the array is read-only. "
            "To disable this warning: zarr_core.config.set(fallback='use')",
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
    assert data_type is not None  # a data type is never ignored
    return data_type
