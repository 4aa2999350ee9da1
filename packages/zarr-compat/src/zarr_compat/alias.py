"""Import the modules of this package under the names of zarr-python, until they are removed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr_compat.zarr_python import SUBSTITUTED_MODULES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "EXTENDED_MODULES",
    "MODULES",
    "InstalledModules",
    "install_as_zarr",
]

MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr": ("api",),
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
    "zarr.storage": ("storage", "v2_storage", "logging_store"),
    "zarr.storage._common": ("storage", "store_path"),
    "zarr.storage._logging": ("logging_store",),
    "zarr.storage._wrapper": ("storage",),
}
"""Modules of this package only: whatever reads, writes or creates nodes and values."""

EXTENDED_MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr.abc.store": ("store",),
    "zarr.core.config": ("settings",),
    "zarr.core.indexing": ("asynchronous",),
    "zarr.errors": ("errors",),
}
"""Modules of this package, with the other names of the installed zarr-python, if there is one."""

# Modules of the installed zarr-python, which modules of this package change.
_CHANGED_MODULES = {"zarr.registry": ("registry",)}

_ALL = {**MODULES, **EXTENDED_MODULES, **SUBSTITUTED_MODULES, **_CHANGED_MODULES}

# The module of zarr-python 2 that this package changes.
_VERSION_2 = {"zarr.core": ("v2_array",)}


class InstalledModules:
    """The installed modules; a context manager that removes them at the end of the block."""

    def __enter__(self) -> ModuleType:
        return import_module("zarr")

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the modules; objects that were imported from them keep working."""
        sys.meta_path[:] = [
            item for item in sys.meta_path if not isinstance(item, _Finder | _NameFinder)
        ]
        version = _installed_version()
        if version is not None:
            for name in [name for name in sys.modules if name.partition(".")[0] == "zarr"]:
                _removed[version][name] = sys.modules.pop(name)


# Modules of earlier installations, by version: classes that were imported from them remain the same.
_removed: dict[int, dict[str, ModuleType]] = {2: {}, 3: {}}


def _installed_version() -> int | None:
    """Return the version of the interface that is imported, or None."""
    if isinstance(sys.modules.get("zarr"), _AliasModule):
        return 3
    return 2 if isinstance(sys.modules.get("zarr.core"), _AliasModule) else None


def install_as_zarr(*, version: int = 3, distribution: bool = False) -> InstalledModules:
    """Install modules of this library under the names of zarr-python.

    Every later ``import zarr`` in this process imports them.  Modules of zarr-python that only
    describe arrays, such as ``zarr.abc.codec``, ``zarr.core.dtype`` and ``zarr.core.metadata``,
    are those of the installed zarr-python, because programs derive classes from theirs.

    Parameters
    ----------
    version : {3, 2}
        The interface.  For 2, zarr-python 2 must be installed: arrays are those of this library,
        all other modules, such as stores and groups, those of zarr-python 2.
    distribution : bool
        Whether ``importlib.metadata`` finds a distribution ``zarr`` even if zarr-python is not
        installed.  Its version is ``zarr.__version__``, and it has no files.

    Returns
    -------
    InstalledModules
        Removes the modules at the end of a ``with`` block, or by ``remove()``.

    Raises
    ------
    RuntimeError
        If zarr-python is imported already, or the modules for another version are installed:
        parts of a program would use one, parts the other.
    ModuleNotFoundError
        If ``version`` is 2, and zarr-python 2 is not installed.
    ValueError
        If ``version`` is neither 2 nor 3.
    """
    if version not in (2, 3):
        raise ValueError(f"version must be 2 or 3 of the interface of zarr-python, not {version!r}")
    existing = _installed_version()
    if existing not in (None, version):
        raise RuntimeError(
            f"cannot install the modules for version {version} of zarr-python: those for version "
            f"{existing} are installed already; call remove() of the result of install_as_zarr first"
        )
    if "zarr" in sys.modules and existing is None:
        raise RuntimeError(
            "zarr-python is imported already; call install_as_zarr() before anything imports "
            "it, or run the program with python -m zarr_compat"
        )
    installed = next((item for item in sys.meta_path if isinstance(item, _Finder)), None)
    if installed is None:
        directory = _zarr_python(version)
        if version == 2 and directory is None:
            raise ModuleNotFoundError(
                "install_as_zarr(version=2) requires the stores and groups of zarr-python 2, which "
                "is not installed. Run: pip install 'zarr<3', or use version=3"
            )
        installed = _Finder(directory, _VERSION_2 if version == 2 else _ALL)
        sys.modules.update(_removed[version])
        sys.meta_path.insert(0, installed)
    if distribution and installed.directory is None:
        sys.meta_path.append(_NameFinder())
    # At once: other import hooks, such as that of pytest, would find the files of zarr-python.
    for name in ("zarr",) if version == 2 else (*MODULES, *EXTENDED_MODULES):
        import_module(name)
    return InstalledModules()


def _zarr_python(version: int) -> Path | None:
    """Return the directory of the installed zarr-python, if it has this version."""
    spec = PathFinder.find_spec("zarr")
    places = [] if spec is None else spec.submodule_search_locations or []
    core = "core" if version == 3 else "core.py"  # in version 3, it is a package
    return next((path for path in map(Path, places) if (path / core).exists()), None)


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

    ``theirs`` is the module of zarr-python, if any; ``extends`` is whether it is executed first.
    """

    def __init__(self, sources: tuple[str, ...], theirs: ModuleSpec | None, extends: bool) -> None:
        self.sources = sources
        self.theirs = theirs
        self.extends = extends

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if self.theirs is not None:
            vars(module)["__zarr_python__"] = self.theirs.origin
        theirs = self.theirs.loader if self.extends and self.theirs is not None else None
        if theirs is not None:
            theirs.exec_module(module)
        for source in self.sources:
            loaded = import_module(f"zarr_compat.{source}")
            if theirs is not None and hasattr(loaded, "extend"):
                loaded.extend(module)
            vars(module).update({public: getattr(loaded, public) for public in loaded.__all__})
            if hasattr(loaded, "__version__"):
                vars(module)["__version__"] = loaded.__version__


class _Finder(MetaPathFinder):
    """Finds the modules under the names of zarr-python.

    ``directory`` is the package ``zarr`` of zarr-python, if it is installed.
    """

    def __init__(self, directory: Path | None, modules: Mapping[str, tuple[str, ...]]) -> None:
        self.directory = directory
        self.modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module, or None if zarr-python or no one has it."""
        if name.partition(".")[0] != "zarr":
            return None
        folder = None if self.directory is None else self.directory.joinpath(*name.split(".")[1:])
        theirs = None if folder is None else PathFinder.find_spec(name, [str(folder.parent)])
        unchanged = _CHANGED_MODULES if theirs is None else SUBSTITUTED_MODULES
        if name not in self.modules or name in unchanged:
            return theirs
        extends = self.modules is _VERSION_2 or name in EXTENDED_MODULES or name in _CHANGED_MODULES
        loader = _Loader(self.modules[name], theirs, extends)
        spec = ModuleSpec(name, loader, is_package=True)
        # Where Python searches for the submodules that are not in the tables.
        spec.submodule_search_locations = [str(folder)] if folder and folder.is_dir() else []
        return spec


class _NameFinder(DistributionFinder):
    """Finds the distribution ``zarr``, if it is requested.

    It is not the finder of the modules, because code that looks for entry points is slower while
    there is another finder of distributions.
    """

    def find_spec(self, *_: object) -> None:
        """Return None: this finds no modules."""

    def find_distributions(self, context: Any = None) -> Iterable[Distribution]:
        """Return the distribution, if this is its name."""
        name = getattr(context, "name", None)
        if name is None or name.lower() == "zarr":
            return [_AliasDistribution()]
        return []


class _AliasDistribution(Distribution):
    """A distribution ``zarr`` without files, for programs that look for its version."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        version = import_module("zarr_compat.api").__version__
        return f"Metadata-Version: 2.1\nName: zarr\nVersion: {version}\n"

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        return Path(__file__).parent / path
