"""Overrides: classes for names within a block of code."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.config import config
from zarr_core.registry.extension_points import get_extension_point
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping
    from contextlib import AbstractContextManager

Extensions: TypeAlias = "Mapping[str, Mapping[str, type[Any]]]"
"""Classes by extension point and name: ``{"codec": {"acme.xor": Xor}}``."""

_Overrides: TypeAlias = "Mapping[tuple[str, str], Provider]"
_NONE: _Overrides = {}
overrides: ContextVar[_Overrides] = ContextVar("zarr_core_extensions", default=_NONE)
"""The present overrides, by extension point and name."""
_UNCHANGED = nullcontext()


def override_extensions(mapping: Extensions | None) -> AbstractContextManager[None]:
    """Use classes for names within a ``with`` block, instead of installed extensions.

    Blocks can be nested.  An array keeps the extensions with which it was opened.

    Parameters
    ----------
    mapping : mapping of str to mapping of str to type, optional
        Classes by extension point and name.

    Raises
    ------
    ValueError
        If an extension point is unknown.
    TypeError
        If a class is not valid for the extension point.

    Examples
    --------
    >>> from zarr_core.codecs.bytes import BytesCodec
    >>> from zarr_core.registry.resolve import find_class
    >>> with override_extensions({"codec": {"acme.plain": BytesCodec}}):
    ...     find_class("codec", "acme.plain").__name__
    'BytesCodec'
    """
    # For speed: every array that is opened enters a block, usually without overrides.
    return _overriding(mapping) if mapping else _UNCHANGED


@contextmanager
def _overriding(mapping: Extensions) -> Iterator[None]:
    added = {
        (extension_point, name): class_provider(extension_point, name, extension)
        for extension_point, names in mapping.items()
        for name, extension in names.items()
    }
    token = overrides.set({**overrides.get(), **added})
    try:
        yield
    finally:
        overrides.reset(token)


def class_provider(
    extension_point: str,
    name: str,
    extension: object,
    source: str = "this process",
    version: str = "",
) -> Provider:
    """The provider for a class; ValueError and TypeError as for :func:`override_extensions`."""
    point = get_extension_point(extension_point)
    if not point.interface:
        raise ValueError(f"cannot override {point.title}; to add hooks, use register_hooks")
    if problem := point.problem(extension):
        raise TypeError(f"invalid class for {point.title} {name!r}: {problem}")
    assert isinstance(extension, type)  # otherwise point.problem() reports it
    target = f"{extension.__module__}:{extension.__qualname__}"
    return Provider(extension_point, name, target, source, version, extension=extension)


def current() -> dict[str, dict[str, type[Any]]]:
    """The present overrides by extension point and name."""
    result: dict[str, dict[str, type[Any]]] = {}
    for (extension_point, name), provider in overrides.get().items():
        result.setdefault(extension_point, {})[name] = provider.extension
    return result


def cache_key() -> Hashable:
    """A key for caches of extensions; changes whenever a name can resolve to another class."""
    present = overrides.get()
    return config.version, frozenset(present.values()) if present else None
