"""Import the modules of this package under the names of zarr-python, until they are removed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "EXTENDED_MODULES",
    "MODULES",
    "InstalledModules",
    "install_as_zarr",
]

MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr": ("api", "v2_storage", "v2_codecs"),
    "zarr.abc": (),
    "zarr.api": (),
    "zarr.api.asynchronous": ("api_asynchronous",),
    "zarr.api.synchronous": ("api",),
    "zarr.attrs": ("attributes",),
    "zarr.convenience": ("api",),
    "zarr.core": ("array",),
    "zarr.core.array": ("array", "asynchronous", "api_asynchronous"),
    "zarr.core.attributes": ("attributes",),
    "zarr.core.group": ("group", "asynchronous", "group_metadata", "api_asynchronous"),
    "zarr.core.sync_group": ("api_nodes",),
    "zarr.creation": ("api",),
    "zarr.hierarchy": ("api",),
    "zarr.storage": ("storage", "v2_storage"),
    "zarr.storage._common": ("storage", "store_path"),
}
"""Modules of this package only: whatever reads, writes or creates nodes and values."""

EXTENDED_MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr.abc.store": ("store",),
    "zarr.core.config": ("settings",),
    "zarr.core.indexing": ("asynchronous",),
    "zarr.errors": ("errors",),
}
"""Modules of this package, with the other names of the installed zarr-python."""

# Modules of the installed zarr-python, which modules of this package change.
_CHANGED_MODULES = {"zarr.registry": ("registry",)}

_ALL = {**MODULES, **EXTENDED_MODULES, **_CHANGED_MODULES}


class InstalledModules:
    """The installed modules; a context manager that removes them at the end of the block."""

    def __enter__(self) -> ModuleType:
        return import_module("zarr")

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the modules; objects that were imported from them keep working."""
        sys.meta_path[:] = [item for item in sys.meta_path if not isinstance(item, _Finder)]
        if isinstance(sys.modules.get("zarr"), _AliasModule):
            for name in [name for name in sys.modules if name.partition(".")[0] == "zarr"]:
                _removed[name] = sys.modules.pop(name)


# Modules of earlier installations: classes that were imported from them remain the same.
_removed: dict[str, ModuleType] = {}


def install_as_zarr() -> InstalledModules:
    """Install modules of this library under the names of zarr-python.

    Every later ``import zarr`` in this process imports them.  Modules of zarr-python that only
    describe arrays, such as ``zarr.abc.codec``, ``zarr.core.dtype`` and ``zarr.core.metadata``,
    are those of the installed zarr-python, because programs derive classes from theirs.

    Returns
    -------
    InstalledModules
        Removes the modules at the end of a ``with`` block, or by ``remove()``.

    Raises
    ------
    RuntimeError
        If zarr-python is imported already: parts of a program would use one, parts the other.
    ModuleNotFoundError
        If zarr-python 3.1 or newer is not installed.
    """
    if "zarr" in sys.modules and not isinstance(sys.modules["zarr"], _AliasModule):
        raise RuntimeError(
            "zarr-python is imported already; call install_as_zarr() before anything imports "
            "it, or run the program with python -m zarr_compat"
        )
    if not any(isinstance(item, _Finder) for item in sys.meta_path):
        directory = _zarr_python()
        if directory is None:
            raise ModuleNotFoundError(
                "install_as_zarr requires the modules of zarr-python that describe arrays, and "
                "zarr-python 3.1 or newer is not installed. Run: pip install 'zarr>=3.1'"
            )
        sys.modules.update(_removed)
        sys.meta_path.insert(0, _Finder(directory))
    # At once: other import hooks, such as that of pytest, would find the files of zarr-python.
    for name in (*EXTENDED_MODULES, *MODULES):
        module = import_module(name)
        vars(module)["__spec__"].loader.add_names(module)
    return InstalledModules()


def _zarr_python() -> Path | None:
    """Return the directory of the installed zarr-python, if it is version 3.1 or newer."""
    spec = PathFinder.find_spec("zarr")
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((path for path in map(Path, folders) if (path / "dtype.py").is_file()), None)


class _AliasModule(ModuleType):
    """A module under a name of zarr-python; ``__zarr_python__`` is its file in zarr-python."""

    __zarr_python__: str | None = None

    def __getattr__(self, name: str) -> object:
        if not name.startswith("__"):
            try:  # zarr-python imports its submodules
                return import_module(f"{self.__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{self.__name__}.{name}":
                    raise
            vars(self)["__spec__"].loader.add_names(self)
            if name in vars(self):
                return vars(self)[name]
            theirs = _their_module(self)
            if theirs is not None and name in vars(theirs):
                return vars(theirs)[name]
        raise AttributeError(
            f"module {self.__name__!r} of zarr_compat has no attribute {name!r}; see the page "
            "'Coming from zarr-python' of the documentation of zarr-core"
        )


def _their_module(module: ModuleType) -> ModuleType | None:
    """Return zarr-python's module of a name, or None; for types, constants and private functions.

    Its functions use the classes of this package instead of their own.
    """
    spec: ModuleSpec | None = vars(module)["__spec__"].loader.theirs
    if spec is None or spec.loader is None:
        return None
    if module.__name__ not in _their_modules:
        loaded = _their_modules[module.__name__] = module_from_spec(
            spec
        )  # first: they import each other
        try:
            spec.loader.exec_module(loaded)
        except BaseException:
            del _their_modules[module.__name__]
            raise
        module.__class__ = _AliasModule  # zarr.storage changes it
        for name, value in vars(module).items():
            # Not in place of a module that it imports, such as ``copy``.
            if name[:2] != "__" and not isinstance(vars(loaded).get(name), ModuleType):
                vars(loaded)[name] = value
    return _their_modules[module.__name__]


_their_modules: dict[str, ModuleType] = {}


class _Loader(Loader):
    """Loads a module from modules of this package, the ``sources``, after that of zarr-python.

    ``theirs`` is the module of zarr-python, if any; ``extends`` is whether it is executed first.  The
    names of other modules are added when they are used: the sources import modules of zarr-python,
    which import the packages that contain them.
    """

    def __init__(self, sources: tuple[str, ...], theirs: ModuleSpec | None, extends: bool) -> None:
        self.sources = sources
        self.theirs = theirs
        self.extends = extends
        self.is_complete = False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if self.theirs is not None:
            vars(module)["__zarr_python__"] = self.theirs.origin
        if self.extends and self.theirs is not None and self.theirs.loader is not None:
            self.theirs.loader.exec_module(module)
            self.add_names(module)

    def add_names(self, module: ModuleType) -> None:
        """Add the names of the sources to the module, once."""
        if self.is_complete:
            return
        self.is_complete = True
        for source in self.sources:
            loaded = import_module(f"zarr_compat.{source}")
            if hasattr(loaded, "extend"):
                loaded.extend(module)
            vars(module).update({public: getattr(loaded, public) for public in loaded.__all__})
            if hasattr(loaded, "__version__"):
                vars(module)["__version__"] = loaded.__version__


class _Finder(MetaPathFinder):
    """Finds the modules under the names of zarr-python.

    ``directory`` is the package ``zarr`` of zarr-python.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module, or None if zarr-python or no one has it."""
        if name.partition(".")[0] != "zarr":
            return None
        folder = self.directory.joinpath(*name.split(".")[1:])
        theirs = PathFinder.find_spec(name, [str(folder.parent)])
        if name not in _ALL:
            return theirs
        loader = _Loader(_ALL[name], theirs, name not in MODULES)
        spec = ModuleSpec(name, loader, is_package=True)
        # Where Python searches for the submodules that are not in the tables.
        spec.submodule_search_locations = [str(folder)] if folder.is_dir() else []
        return spec
