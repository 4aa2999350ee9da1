"""Providers: entry points of extensions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_core.cache import Cache
from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError
from zarr_core.registry.extension_points import EXTENSION_POINTS

if TYPE_CHECKING:
    from collections.abc import Hashable

DISTRIBUTION = "zarr-core"


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
    extension : type, optional
        The class, if it is not imported from the target.
    """

    extension_point: str
    name: str
    target: str
    distribution: str
    version: str = ""
    adapter: str = ""
    extension: Any = None

    @property
    def origin(self) -> str:
        """Name and version of the distribution."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def module(self) -> str:
        """The module of the target."""
        return self.target.partition(":")[0].strip()

    @property
    def setting(self) -> str:
        """The call that selects it."""
        choice = f"'{self.extension_point}.{self.name}': '{self.distribution}'"
        return f"zarr_core.config.set(providers={{{choice}}})"

    def __str__(self) -> str:
        return f"{self.origin} ({self.target})"

    def load(self) -> Any:
        """Import and check the extension.

        Returns
        -------
        type
            The class; for ``hooks`` the object, created once.

        Raises
        ------
        ExtensionLoadError
            If it cannot be imported, or is not valid for the extension point.
        """
        extension = registry_cache.get(self)
        return registry_cache.put(self, _load(self)) if extension is None else extension

    def failure(self, reason: str, event: str = "failed when it was called") -> ExtensionLoadError:
        """The error for an extension that cannot be used, with how to go on without it."""
        remedy = "Repair, upgrade or remove that distribution"
        if self.extension_point == "hooks":
            disable = f"zarr_core.config.set(disabled_plugins={{{self.distribution!r}}})"
            if self.distribution == "this process":
                disable = "zarr_core.unregister_hooks"
            remedy = f"Repair it, or disable it: {disable}"
        point, name, target = self.extension_point, self.name, self.target
        return ExtensionLoadError(point, name, target, self.origin, reason, remedy, event)


# Cleared when distributions are installed at run time; errors are not cached.
registry_cache: Cache[Hashable, Any] = Cache(4096)
"""Entry points, classes and schemas of extensions.  Cleared by ``refresh``."""


def _load(provider: Provider) -> Any:
    point, extension = EXTENSION_POINTS[provider.extension_point], provider.extension
    try:
        if extension is None:
            dotted = provider.target.partition(":")[2].partition("[")[0].strip()
            attributes = dotted.split(".") if dotted else ()
            extension = reduce(getattr, attributes, import_module(provider.module))
        if provider.adapter:
            module, _, function = provider.adapter.partition(":")
            extension = getattr(import_module(module), function)(provider, extension)
        elif provider.extension_point == "hooks" and isinstance(extension, type):
            extension = extension()
        problem = point.problem(extension)
    # Not only Exception: sys.exit() in a plugin must not end the program, and
    # a panic in a module written in Rust derives from BaseException.
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise provider.failure(_reason(provider, error), "failed to load") from error
    if problem:
        raise provider.failure(problem, "failed to load")
    return extension


def _reason(provider: Provider, error: BaseException) -> str:
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) and (error.name or "").startswith("zarr_core."):
        needs = f"it requires {error.name} of another version of zarr-core"
        reason += "" if provider.module.startswith("zarr_core.") else f" ({needs})"
    return reason


def normalize_name(distribution: str) -> str:
    """The normalized name of a distribution: ``Acme_Xor`` becomes ``acme-xor``."""
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    if not disabled or distribution == DISTRIBUTION:
        return False
    return "*" in disabled or normalize_name(distribution) in map(normalize_name, disabled)
