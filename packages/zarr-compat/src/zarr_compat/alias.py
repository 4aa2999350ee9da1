"""Install modules under the names of zarr-python, until they are removed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MODULES", "InstalledModules", "install_as_zarr"]

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
    "zarr.testing": (),  # pytest loads it as a plugin if zarr-python is installed
}
"""The alias modules, each with the modules of this package whose public names it has."""


class InstalledModules:
    """The installed modules; a context manager that removes them at the end of the block."""

    def __enter__(self) -> ModuleType:
        return sys.modules["zarr"]

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the modules; objects that were imported from them keep working."""
        for name in MODULES:
            sys.modules.pop(name, None)


def install_as_zarr() -> InstalledModules:
    """Install modules of this library under the names of zarr-python.

    Every later ``import zarr`` in this process imports them.

    Returns
    -------
    InstalledModules
        Removes the modules at the end of a ``with`` block, or by ``remove()``.

    Raises
    ------
    RuntimeError
        If zarr-python is imported already: parts of a program would use one, parts the
        other.
    """
    existing = sys.modules.get("zarr")
    if existing is not None and not isinstance(existing, _AliasModule):
        raise RuntimeError(
            "zarr-python is imported already; call install_as_zarr() before anything imports "
            "it, or run the program with python -m zarr_compat"
        )
    if existing is None:
        modules = {name: _module(name, sources) for name, sources in MODULES.items()}
        for name, module in modules.items():
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(modules[parent], last, module)
        sys.modules.update(modules)
    return InstalledModules()


class _AliasModule(ModuleType):
    """A module under a name of zarr-python."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(
            f"module {self.__name__!r} of zarr_compat has no attribute {name!r}; see the page "
            "'Coming from zarr-python' of the documentation of zarr-core"
        )


def _module(name: str, sources: tuple[str, ...]) -> ModuleType:
    module = _AliasModule(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []  # so that importing a missing submodule raises ModuleNotFoundError
    module.__package__ = name
    for source in sources:
        found = import_module(f"zarr_compat.{source}")
        vars(module).update({public: getattr(found, public) for public in found.__all__})
        if hasattr(found, "__version__"):
            vars(module)["__version__"] = found.__version__
    return module
