"""Providers: entry points of extensions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple

from zarr_core.errors import ExtensionLoadError
from zarr_core.registry.extension_points import EXTENSION_POINTS, version_problem


@dataclass(frozen=True, slots=True)
class Provider:
    """The entry point of an extension, which is not imported.

    Parameters
    ----------
    extension_point, name : str
        The extension point, and the name in metadata.
    target : str
        Its code, ``module:Class``.
    distribution, version : str
        The distribution that declares it.
    adapter : str
        For code of another library: ``module:function`` of a function that returns an
        extension.  It is called with the provider and the object of the target.
    alternative : str
        For an alternative, its name in the settings; else empty.
    interface_version : int
        The version of the extension interface for which the distribution was written.
    """

    extension_point: str
    name: str
    target: str
    distribution: str
    version: str = ""
    adapter: str = ""
    alternative: str = ""
    interface_version: int = 1

    @property
    def choice(self) -> str:
        """The value of the setting ``providers`` that selects it, such as ``zarr-codecs[isal]``."""
        return f"{self.distribution}[{self.alternative}]" if self.alternative else self.distribution

    @property
    def origin(self) -> str:
        """Name and version of the distribution."""
        return f"{self.choice} {self.version}".strip()

    @property
    def module(self) -> str:
        """The module of the target."""
        return self.target.partition(":")[0].strip()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the object of the target within the module."""
        return _attributes(self.target)

    def __str__(self) -> str:
        return f"{self.origin} ({self.target})"

    def load(self) -> Any:
        """Import and check the extension.

        Returns
        -------
        type
            The class; for ``hooks`` any object.

        Raises
        ------
        ExtensionLoadError
            If it cannot be imported, is not valid for the extension point, or was written for
            another version of the extension interface.
        """
        self._check_version(self.interface_version)
        try:
            found = _import(self.target)
            if self.adapter:
                found = _import(self.adapter)(self, found)
            version = getattr(found, "interface_version", 1)
            problem = EXTENSION_POINTS[self.extension_point].problem(found)
        except KeyboardInterrupt:
            raise
        # Not only Exception: sys.exit() in a plugin must not end the program, and
        # a panic in a module written in Rust derives from BaseException.
        except BaseException as error:
            raise self.failure(self._reason(error)) from error
        self._check_version(version)
        if problem:
            raise self.failure(problem)
        return found

    def _check_version(self, version: object) -> None:
        if problem := version_problem(version, self.distribution):
            reason, remedy = problem
            raise ExtensionLoadError(
                self.extension_point, self.name, self.target, self.origin, reason, remedy
            )

    def failure(self, reason: str) -> ExtensionLoadError:
        """The error for an extension that cannot be used."""
        return ExtensionLoadError(self.extension_point, self.name, self.target, self.origin, reason)

    def _reason(self, error: BaseException) -> str:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ImportError) and (error.name or "").startswith("zarr_core."):
            needs = f"it requires {error.name} of another version of zarr-core"
            reason += "" if self.module.startswith("zarr_core.") else f" ({needs})"
        elif self.alternative and isinstance(error, ModuleNotFoundError):
            reason += f" (pip install '{self.choice}')"
        return reason


def is_fault(error: BaseException) -> bool:
    """Whether an error is a fault of the called code, not a request to stop the program.

    Includes panics of modules written in Rust, which derive from BaseException.
    """
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _attributes(target: str) -> tuple[str, ...]:
    dotted = target.partition(":")[2].partition("[")[0].strip()
    return tuple(dotted.split(".")) if dotted else ()


def _import(target: str) -> Any:
    return reduce(getattr, _attributes(target), import_module(target.partition(":")[0].strip()))


class Implementation(NamedTuple):
    """The class of an extension and its provider."""

    provider: Provider
    extension: type[Any]
