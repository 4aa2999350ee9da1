"""Extensions that hold for a block of code instead of for the environment."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.registry.points import kind_called
from zarr_core.registry.provider import Implementation, Provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Extensions: TypeAlias = "Mapping[str, Mapping[str, type[Any]]]"
"""Classes by kind and then by name: ``{"codec": {"acme.xor": Xor}}``."""


Scope: TypeAlias = "frozenset[Implementation]"

_EMPTY: dict[tuple[str, str], Implementation] = {}
_current: ContextVar[tuple[dict[tuple[str, str], Implementation], Scope]] = ContextVar(
    "zarr_core_extensions", default=(_EMPTY, frozenset())
)


@contextmanager
def extensions(mapping: Extensions | None) -> Iterator[None]:
    """Use these classes for these names until the end of the block.

    They come before everything that is installed.  Blocks nest; an array keeps
    the extensions with which it was opened.

    Parameters
    ----------
    mapping : mapping of str to mapping of str to type, optional
        Classes by kind and then by name.  None or empty: nothing changes.

    Raises
    ------
    ValueError
        If there is no such kind.
    TypeError
        If a class is not one of its kind.

    Examples
    --------
    >>> from zarr_core.codecs.bytes import BytesCodec
    >>> from zarr_core.registry.resolve import find
    >>> with extensions({"codec": {"acme.plain": BytesCodec}}):
    ...     find("codec", "acme.plain").__name__
    'BytesCodec'
    """
    if not mapping:
        yield
        return
    added = {
        (kind, name): given(kind, name, extension)
        for kind, names in mapping.items()
        for name, extension in names.items()
    }
    merged = {**_current.get()[0], **added}
    token = _current.set((merged, frozenset(merged.values())))
    try:
        yield
    finally:
        _current.reset(token)


def given(kind: str, name: str, extension: object, giver: str = "this process") -> Implementation:
    """Check a class that did not come from an entry point, and say what it is.

    Parameters
    ----------
    kind, name : str
        The extension that it is to be.
    extension : type
        The class.
    giver : str
        Who gives it; stands where errors name the distribution.

    Raises
    ------
    ValueError
        If there is no such kind, or it cannot be given this way.
    TypeError
        If the class is not one of its kind.
    """
    point = kind_called(kind)
    if not point.interface:
        raise ValueError("hooks are not given by name; use register_hooks")
    if objection := point.objection(extension):
        raise TypeError(f"not a {point.title} that could be called {name!r}: {objection}")
    assert isinstance(extension, type)  # objection() found it to be one
    target = f"{extension.__module__}:{extension.__qualname__}"
    return Implementation(Provider(kind, name, target, giver), extension)


def current() -> dict[str, dict[str, type[Any]]]:
    """The classes that the blocks around the caller give, by kind and then by name."""
    result: dict[str, dict[str, type[Any]]] = {}
    for (kind, name), item in _current.get()[0].items():
        result.setdefault(kind, {})[name] = item.extension
    return result


def lookup(kind: str, name: str) -> Implementation | None:
    """What the blocks around the caller give for a name."""
    return _current.get()[0].get((kind, name))


def state() -> Scope:
    """A value that is equal where the blocks around the caller give the same."""
    return _current.get()[1]
