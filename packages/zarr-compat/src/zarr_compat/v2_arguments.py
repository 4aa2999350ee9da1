"""The arguments of zarr-python 2, replaced by those of zarr-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_compat.foreign_names import advice_on

if TYPE_CHECKING:
    from collections.abc import Callable


def accept_v2_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Replace the arguments of zarr-python 2 by those of zarr-core; others are returned unchanged.

    Raises TypeError if an argument has no equivalent, or is passed by its old and its new name.
    """
    if V2_ARGUMENTS.isdisjoint(options) and not _is_ragged(options.get("dtype")):
        return options
    present = {name: value for name, value in options.items() if name not in V2_ARGUMENTS}
    for name in sorted(options.keys() & V2_ARGUMENTS):
        value = options[name]
        if name in _WITHOUT_EFFECT:
            if value is not None and value not in _WITHOUT_EFFECT[name]:
                instead = advice_on("arguments", name)
                raise TypeError(f"{name}={value!r} is not supported: {instead}")
            continue
        for new, translated in _TRANSLATED[name](value, present):
            if new in present:
                raise TypeError(f"{name} and {new} have the same meaning: pass {new} only")
            present[new] = translated
    if _is_ragged(present.get("dtype")):
        dtype = np.dtype(present["dtype"].removeprefix(_RAGGED))
        elements = {"id": "vlen-array", "dtype": dtype.str}
        present["dtype"] = object
        present |= dict(_object_codec(elements, present))
    return present


def _is_ragged(dtype: Any) -> bool:
    """Whether elements are arrays, as in ``"array:i4"``."""
    return isinstance(dtype, str) and dtype.startswith(_RAGGED)


def _renamed(new: str) -> Translation:
    return lambda value, _: [(new, value)]


def _compressor(value: Any, _: dict[str, Any]) -> list[tuple[str, Any]]:
    return [("compressors", "auto" if isinstance(value, str) and value == "default" else value)]


def _object_codec(value: Any, present: dict[str, Any]) -> list[tuple[str, Any]]:
    """The object codec is the last filter."""
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


def _recurse(value: Any, _: dict[str, Any]) -> list[tuple[str, Any]]:
    return [("max_depth", None if value else 0)]


def _recheck(value: Any, present: dict[str, Any]) -> list[tuple[str, Any]]:
    """Both arguments together have the meaning of one."""
    if value is None or value is True or present.get("recheck") == "always":
        return []
    if value is not False:
        raise TypeError(f"cache_metadata and cache_attrs must be True or False, not {value!r}")
    return [("recheck", "always")]


if TYPE_CHECKING:
    Translation = Callable[[Any, dict[str, Any]], list[tuple[str, Any]]]

_TRANSLATED: dict[str, Translation] = {
    "cache_attrs": _recheck,
    "cache_metadata": _recheck,
    "chunk_shape": _renamed("chunks"),
    "codecs": _codecs,
    "compressor": _compressor,
    "dimension_separator": _renamed("chunk_key_encoding"),
    "object_codec": _object_codec,
    "recurse": _recurse,
    "write_empty_chunks": _write_empty_chunks,
    "zarr_version": _renamed("zarr_format"),
}

_RAGGED = "array:"

# Arguments with the values that change nothing.
_WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "chunk_store": (),
    "compression": (),
    "compression_opts": (),
    "expand": (True, False),
    "meta_array": (),
    "partial_decompress": (True, False),
    "read_only": (False,),
    "storage_transformers": ((), []),
    "synchronizer": (),
}

V2_ARGUMENTS = frozenset(_TRANSLATED) | frozenset(_WITHOUT_EFFECT)
