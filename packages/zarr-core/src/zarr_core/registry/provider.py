"""A provider: the line by which a distribution offers one extension."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple

from zarr_core.errors import ExtensionLoadError
from zarr_core.registry.points import KINDS


@dataclass(frozen=True, slots=True)
class Provider:
    """One entry point: everything known of an extension without importing it.

    Parameters
    ----------
    kind, name : str
        The kind of extension, and its name in metadata.
    target : str
        Where the code is, ``module:Class``.
    distribution, version : str
        Who declares it.
    adapter : str
        For code that was written for another library: where the function is,
        ``module:function``, that makes an extension of what the target names.  It is
        called with the provider and the target's object.
    alternative : str
        The word by which this is chosen instead of what everybody gets; empty for that.
    """

    kind: str
    name: str
    target: str
    distribution: str
    version: str = ""
    adapter: str = ""
    alternative: str = ""

    @property
    def choice(self) -> str:
        """What the setting ``providers`` says to have this one: ``zarr-codecs``, ``zarr-codecs[isal]``."""
        return f"{self.distribution}[{self.alternative}]" if self.alternative else self.distribution

    @property
    def origin(self) -> str:
        """Name and version of the distribution."""
        return f"{self.choice} {self.version}".strip()

    @property
    def module(self) -> str:
        """The module that :meth:`load` imports."""
        return self.target.partition(":")[0].strip()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names that lead from the module to the object."""
        return _attributes(self.target)

    def __str__(self) -> str:
        return f"{self.origin} ({self.target})"

    def load(self) -> Any:
        """Import the extension, and check that it is one of its kind.

        Returns
        -------
        type
            The class; for kind ``hooks`` whatever object the target names.

        Raises
        ------
        ExtensionLoadError
            If anything at all goes wrong.
        """
        try:
            found = _named(self.target)
            if self.adapter:
                found = _named(self.adapter)(self, found)
            objection = KINDS[self.kind].objection(found)
        except KeyboardInterrupt:
            raise
        # Not only Exception: sys.exit() in a plugin must not end the program, and
        # a panic in a module written in Rust derives from BaseException.
        except BaseException as error:
            raise self.failure(self._reason(error)) from error
        if objection:
            raise self.failure(objection)
        return found

    def failure(self, reason: str) -> ExtensionLoadError:
        """The error that says why this extension cannot be used."""
        return ExtensionLoadError(self.kind, self.name, self.target, self.origin, reason)

    def _reason(self, error: BaseException) -> str:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ImportError) and (error.name or "").startswith("zarr_core."):
            needs = f"it needs {error.name} of another version of zarr-core"
            reason += "" if self.module.startswith("zarr_core.") else f" ({needs})"
        elif self.alternative and isinstance(error, ModuleNotFoundError):
            reason += f" (pip install '{self.choice}')"
        return reason


def is_fault(error: BaseException) -> bool:
    """Whether an error is a fault of the code that was called, rather than an order to stop.

    A panic in a module written in Rust is one, though it derives from BaseException.
    ``SystemExit`` is none: it may come from who asked the program to end.
    """
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _attributes(target: str) -> tuple[str, ...]:
    dotted = target.partition(":")[2].partition("[")[0].strip()
    return tuple(dotted.split(".")) if dotted else ()


def _named(target: str) -> Any:
    return reduce(getattr, _attributes(target), import_module(target.partition(":")[0].strip()))


class Implementation(NamedTuple):
    """A class, and the provider that says where it comes from."""

    provider: Provider
    extension: type[Any]
