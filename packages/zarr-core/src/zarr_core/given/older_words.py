"""Arguments as zarr-python 2 had them, understood or refused with what to do instead."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def understands_older_words(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function that opens or makes nodes take the arguments of zarr-python 2 as well."""

    @functools.wraps(function)
    def understanding(*args: P.args, **options: P.kwargs) -> R:
        if _OLDER.isdisjoint(options) and not ("dtype" in options and _is_ragged(options["dtype"])):
            return function(*args, **options)
        given: dict[str, Any] = {**options}
        return function(*args, **in_present_words(given))

    return understanding


def in_present_words(options: dict[str, Any]) -> dict[str, Any]:
    """The same arguments, each by the name that it has here.

    Parameters
    ----------
    options : dict
        Arguments by name.

    Raises
    ------
    TypeError
        If one means nothing here, or is given by both of its names; says what to do.
    """
    present = {name: value for name, value in options.items() if name not in _OLDER}
    for name in sorted(options.keys() & _OLDER):
        value = options[name]
        if name in _INDIFFERENT:
            accepted, instead = _INDIFFERENT[name]
            if value is not None and value not in accepted:
                raise TypeError(f"{name}={value!r} is not to be had: {instead}")
            continue
        for new, said in _TRANSLATED[name](value, present):
            if new in present:
                raise TypeError(f"{name} and {new} say the same: give {new} alone")
            present[new] = said
    if _is_ragged(present.get("dtype")):
        dtype = np.dtype(present["dtype"].removeprefix(_RAGGED))
        elements = {"id": "vlen-array", "dtype": dtype.str}
        present["dtype"] = object
        present |= dict(_object_codec(elements, present))
    return present


def _is_ragged(dtype: Any) -> bool:
    """Whether elements are arrays, as in ``array:i4``."""
    return isinstance(dtype, str) and dtype.startswith(_RAGGED)


def _renamed(new: str) -> Translation:
    return lambda value, _: [(new, value)]


def _compressor(value: Any, _: dict[str, Any]) -> list[tuple[str, Any]]:
    return [("compressors", "auto" if isinstance(value, str) and value == "default" else value)]


def _object_codec(value: Any, present: dict[str, Any]) -> list[tuple[str, Any]]:
    """What makes bytes of objects comes last of the filters."""
    before = present.pop("filters", None)
    if value is None:
        return [("filters", before)]
    if before is None or isinstance(before, str):
        before = []
    return [("filters", [*(before if isinstance(before, list | tuple) else [before]), value])]


def _codecs(value: Any, _: dict[str, Any]) -> list[tuple[str, Any]]:
    return [] if value is None else [("filters", list(value)), ("compressors", None)]


def _write_empty_chunks(value: Any, _: dict[str, Any]) -> list[tuple[str, Any]]:
    return [] if value is None else [("config", {"write_empty_chunks": value})]


if TYPE_CHECKING:
    Translation = Callable[[Any, dict[str, Any]], list[tuple[str, Any]]]

_TRANSLATED: dict[str, Translation] = {
    "chunk_shape": _renamed("chunks"),
    "codecs": _codecs,
    "compressor": _compressor,
    "dimension_separator": _renamed("chunk_key_encoding"),
    "object_codec": _object_codec,
    "write_empty_chunks": _write_empty_chunks,
    "zarr_version": _renamed("zarr_format"),
}

_RAGGED = "array:"

_REFRESH = "a node shows its document as of opening; call refresh() where others may change it"

# Names with the values that ask for nothing else than what is done anyway.
_INDIFFERENT: dict[str, tuple[tuple[Any, ...], str]] = {
    "cache_attrs": ((True,), _REFRESH),
    "cache_metadata": ((True,), _REFRESH),
    "chunk_store": (
        (),
        "documents and chunks are in one store; give a zarr_core.Store that keeps them apart by key",
    ),
    "compression": ((), 'say compressors="gzip", or a definition, or an object of numcodecs'),
    "compression_opts": (
        (),
        'say compressors={"name": "gzip", "configuration": {"level": 5}}',
    ),
    "meta_array": ((), "results are NumPy arrays; move them to the device that you want"),
    "partial_decompress": ((True, False), ""),
}

_OLDER = frozenset(_TRANSLATED) | frozenset(_INDIFFERENT)
