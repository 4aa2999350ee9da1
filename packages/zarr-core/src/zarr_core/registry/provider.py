"""A provider: the line by which a distribution offers one extension."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.errors import ExtensionLoadError
from zarr_core.registry.points import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.definition import JSON


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
    """

    kind: str
    name: str
    target: str
    distribution: str
    version: str = ""

    @property
    def origin(self) -> str:
        """Name and version of the distribution."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def module(self) -> str:
        """The module that :meth:`load` imports."""
        return self.target.partition(":")[0].strip()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names that lead from the module to the object."""
        dotted = self.target.partition(":")[2].partition("[")[0].strip()
        return tuple(dotted.split(".")) if dotted else ()

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
            found = reduce(getattr, self.attributes, import_module(self.module))
            objection = KINDS[self.kind].objection(found)
        except KeyboardInterrupt:
            raise
        # Not only Exception: sys.exit() in a plugin must not end the program, and
        # a panic in a module written in Rust derives from BaseException.
        except BaseException as error:
            raise self.failure(_reason(error)) from error
        if objection:
            raise self.failure(objection)
        return found

    def schema(self) -> dict[str, JSON] | None:
        """The JSON Schema of the configuration, found without importing the extension.

        Returns
        -------
        dict or None
            What ``<package>/schemas/<kind>/<name>.json`` holds; None if there is
            no such file, the configuration then being left to the code.

        Raises
        ------
        ExtensionLoadError
            If there is a file, and it is no JSON Schema that can be used.
        """
        return _schema(self)

    def failure(self, reason: str) -> ExtensionLoadError:
        """The error that says why this extension cannot be used."""
        return ExtensionLoadError(self.kind, self.name, self.target, self.origin, reason)


class Implementation(NamedTuple):
    """A class, and the provider that says where it comes from."""

    provider: Provider
    extension: type[Any]


def _reason(error: BaseException) -> str:
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "zarr_core":
        reason += " (it may be made for another version of zarr-core)"
    return reason


@lru_cache(maxsize=1024)
def _schema(provider: Provider) -> dict[str, JSON] | None:
    if "/" in provider.name or "\\" in provider.name:
        return None
    for folder in _folders(provider.module):
        file = folder / "schemas" / provider.kind / f"{provider.name}.json"
        if file.is_file():
            return _read_schema(provider, file)
    return None


def _folders(module: str) -> Iterator[Path]:
    """Folders of the packages around a module, the outermost first; imports none of them.

    Only the outermost is asked for: ``find_spec`` imports the parents of anything
    deeper.  The others are needed for packages inside a namespace package.
    """
    top, *inner = module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):  # ValueError: __main__ of an interactive session
        return
    if spec is None:
        return
    roots = [Path(place) for place in spec.submodule_search_locations or ()]
    for depth in range(len(inner) + 1):
        for root in roots:
            yield root.joinpath(*inner[:depth])


def _read_schema(provider: Provider, file: Path) -> dict[str, JSON]:
    import json  # noqa: PLC0415 - lazy: most processes read no schema

    try:
        schema = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise provider.failure(f"its schema {file} cannot be read: {error}") from error
    if not isinstance(schema, dict):
        raise provider.failure(f"its schema {file} is not a JSON object")
    for reference in _references(schema):
        # Opening an array must never reach for the network.
        if not reference.startswith("#"):
            raise provider.failure(
                f"its schema {file} refers to {reference!r}; "
                "only references inside the same file are permitted"
            )
    return schema


def _references(schema: JSON) -> Iterator[str]:
    pending = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for word in ("$ref", "$dynamicRef"):
                target = item.get(word)
                if isinstance(target, str):
                    yield target
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
