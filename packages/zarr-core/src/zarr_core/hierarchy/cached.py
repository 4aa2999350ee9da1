"""Bindings of documents that were met before."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from zarr_core.engine.binding import bind
from zarr_core.names import located
from zarr_core.registry.resolve import state

if TYPE_CHECKING:
    from collections.abc import Hashable

    from zarr_core.engine.binding import Binding
    from zarr_core.metadata.array import ArrayMetadata

_MOST = 256
_bindings: dict[tuple[int, bool], tuple[ArrayMetadata, Hashable, Binding]] = {}


def binding(metadata: ArrayMetadata, store: object, path: str, keep_empty: bool = False) -> Binding:
    """As :func:`zarr_core.engine.binding.bind`, remembering the last few hundred.

    The store and the path are only for messages.

    A result is used again for the same metadata object (formats give the same
    object for the same bytes) as long as names stand for the same code.
    """
    key = (id(metadata), keep_empty)
    now = state()
    found = _bindings.get(key)
    # The metadata kept beside it proves that the id still means the same object.
    if found is not None and found[0] is metadata and found[1] == now:
        return found[2]
    new = bind(metadata, located(store, path), keep_empty)
    # Of a fallback of the data type who chose it has warned, or was not to.
    left_out = [definition for definition in new.skipped if definition is not metadata.data_type]
    if left_out:
        names = ", ".join(repr(definition.name) for definition in left_out)
        warnings.warn(
            f"{store} {'/' + path!r}: nobody knows {names}, which need not be understood and "
            "is left out; the array can only be read, and may read as something else",
            UserWarning,
            stacklevel=5,  # who called open
        )
    if len(_bindings) >= _MOST:
        _bindings.clear()
    _bindings[key] = (metadata, now, new)
    return new
