"""The modules of zarr-python, for as long as a program needs them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MODULES", "Installed", "install_as_zarr"]

MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr": ("api",),
    "zarr.abc": (),
    "zarr.abc.store": ("store",),
    "zarr.api": (),
    "zarr.api.asynchronous": ("api_asynchronous",),
    "zarr.api.synchronous": ("api",),
    "zarr.attrs": (),
    "zarr.codecs": ("codecs",),
    "zarr.codecs.numcodecs": ("codecs_numcodecs",),
    "zarr.convenience": ("api",),
    "zarr.core": (),
    "zarr.core.array": ("array", "asynchronous"),
    "zarr.core.buffer": ("buffer",),
    "zarr.core.config": ("settings",),
    "zarr.core.dtype": ("data_types",),
    "zarr.core.group": ("group", "asynchronous"),
    "zarr.core.indexing": ("asynchronous",),
    "zarr.core.metadata": ("metadata",),
    "zarr.core.sync": ("sync",),
    "zarr.creation": ("api",),
    "zarr.dtype": ("data_types",),
    "zarr.errors": ("errors",),
    "zarr.hierarchy": ("group",),
    "zarr.storage": ("storage",),
    "zarr.testing": (),  # a plugin of pytest, which is loaded wherever zarr-python is installed
}
"""The modules there are, each with the modules here whose public names it has."""


class Installed:
    """The modules under their names; as a context manager until the end of the block."""

    def __enter__(self) -> ModuleType:
        return sys.modules["zarr"]

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Take the names away again; what was imported from them goes on working."""
        for name in MODULES:
            sys.modules.pop(name, None)


def install_as_zarr() -> Installed:
    """Put modules of this library under the names of zarr-python's.

    Whoever imports ``zarr`` from now on, in this process, gets them.

    Returns
    -------
    Installed
        Takes the names away again at the end of a ``with`` block, or by ``remove()``.

    Raises
    ------
    RuntimeError
        If zarr-python has been imported already: half of a program would use the one, half
        the other.
    """
    here = sys.modules.get("zarr")
    if here is not None and not isinstance(here, _Alias):
        raise RuntimeError(
            "zarr-python has been imported already; call install_as_zarr() before anything "
            "imports it, or run the program by python -m zarr_compat"
        )
    if here is None:
        made = {name: _module(name, sources) for name, sources in MODULES.items()}
        for name, module in made.items():
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(made[parent], last, module)
        sys.modules.update(made)
    return Installed()


class _Alias(ModuleType):
    """A module that stands for one of zarr-python's."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}: it is zarr_compat's, which has "
            "what the documentation of zarr-core lists under coming from zarr-python"
        )


def _module(name: str, sources: tuple[str, ...]) -> ModuleType:
    module = _Alias(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []  # so that a missing submodule is one that is not there
    module.__package__ = name
    for source in sources:
        found = import_module(f"zarr_compat.{source}")
        vars(module).update({public: getattr(found, public) for public in found.__all__})
        if hasattr(found, "__version__"):
            vars(module)["__version__"] = found.__version__
    return module
