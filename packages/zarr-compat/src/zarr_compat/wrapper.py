"""The base class of what wraps an object of the core, and which class wraps which."""

from __future__ import annotations

from typing import Any, ClassVar


class Wrapper:
    """An object of zarr-python's interface that wraps one of the core.

    Parameters
    ----------
    wraps : type
        Keyword of a subclass: the class of the core whose instances it wraps.  Modules that wrap
        nodes find the class here, because the classes themselves import those modules.
    """

    core: Any
    classes: ClassVar[dict[type, type[Any]]] = {}

    def __init_subclass__(cls, wraps: type | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if wraps is not None:
            Wrapper.classes[wraps] = cls
