"""Convert arguments of zarr-python to those of zarr-core."""

from __future__ import annotations

import warnings
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr.abc.codec import BytesBytesCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.dtype import RawBytes, parse_dtype
from zarr_core.extension import ExtensionDefinition

from zarr_compat.attributes import attributes_of
from zarr_compat.chunk_shapes import with_default_chunks
from zarr_compat.errors import ZarrRuntimeWarning, ZarrUserWarning
from zarr_compat.settings import config as settings
from zarr_compat.v2_arguments import accept_v2_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The defaults of zarr-python; programs compare them, and the bytes of chunks.
_DEFAULT_COMPRESSOR = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
_DEFAULT_IN_GROUPS_OF_VERSION_2 = {
    "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0
}  # fmt: skip
_CREATES = ("array", "create", "create_array", "empty", "full", "ones", "zeros")
_COMPRESSES = (*_CREATES, "create_dataset", "open", "open_array", "require_array")

__all__ = ["accept_arguments", "as_native_dtype", "settings_of_array"]


def accept_arguments(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a program by name, as a function of the core takes them.

    Raises TypeError if an argument of version 2 has no equivalent.
    """
    _warn_of(options)
    accepted = dict(accept_v2_arguments(dict(options)))
    name = getattr(function, "__name__", "")
    if name.endswith("_like"):
        _accept_like(name, arguments, accepted)
    elif (
        name in _COMPRESSES
        and (not name.startswith("open") or {"shape", "data"} & accepted.keys())
        and _is_auto(accepted.get("compressors", "auto"))
    ):
        if _format_of(function, accepted) == 3:
            accepted["compressors"] = [dict(_DEFAULT_COMPRESSOR)]
        elif (
            _format_of(function, accepted) == 2
            and isinstance(getattr(function, "__self__", None), zarr_core.Group)
            and name in ("create", "create_array", "create_dataset", "require_array")
        ):
            accepted["compressors"] = dict(_DEFAULT_IN_GROUPS_OF_VERSION_2)
    if _format_of(function, accepted) == 2 and accepted.get("shards") is not None:
        raise ValueError(
            "Zarr format 2 arrays can only be created with `shard_shape` set to `None`. "
            f"Got `shard_shape={accepted['shards']}` instead. Leave out shards, or pass zarr_format=3"
        )
    if isinstance(accepted.get("shards"), dict):
        accepted["shards"] = {
            key: item.value if isinstance(item, Enum) else item
            for key, item in accepted["shards"].items()
        }
    if "config" in accepted:
        accepted["config"] = _config_of(accepted["config"])
    if "order" in accepted or (name in _CREATES and _format_of(function, accepted) == 2):
        _accept_order(function, accepted)
    if name in _CREATES and _format_of(function, accepted) == 3:
        accepted = settings_of_array(accepted)
    if "dtype" in accepted:
        accepted["dtype"] = dtype_of(accepted["dtype"], _format_of(function, accepted))
    accepted = with_default_chunks(name, arguments, accepted)
    for part in ("filters", "compressors"):
        if part in accepted:
            accepted[part] = _evolved(accepted[part], accepted)
    for part in ("chunks", "shards"):
        if part in accepted:
            accepted[part] = _positive(accepted[part])
    if (
        isinstance(accepted.get("dimension_names"), list | tuple)
        and not accepted["dimension_names"]
    ):
        del accepted["dimension_names"]  # zarr-python ignores an empty list
    if "attributes" in accepted:
        accepted["attributes"] = attributes_of(accepted["attributes"])
    return accepted


def settings_of_array(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the setting ``array.order`` as the order of results."""
    config = _config_of(options.get("config")) or {}
    return {**options, "config": {"order": settings.get("array.order"), **config}}


def dtype_of(dtype: Any, zarr_format: int | None) -> Any:
    """Return a data type for the core; an object of zarr-python is one of NumPy, or a definition."""
    if not hasattr(dtype, "to_native_dtype"):
        return _fields_of(dtype)
    native = dtype.to_native_dtype()
    if zarr_format == 2 and not native.hasobject:
        return native
    if native.kind not in "OTVM" or native.names:
        return native
    try:
        return ExtensionDefinition.from_json(dtype.to_json(zarr_format=3))
    except Exception:  # of third-party code; NumPy's dtype has what it needs
        return native


def _fields_of(dtype: Any) -> Any:
    """Return fields in the form of NumPy; those read from JSON are lists."""
    if not isinstance(dtype, list):
        return dtype
    return [
        (item[0], _fields_of(item[1]), *map(tuple, item[2:])) if isinstance(item, list) else item
        for item in dtype
    ]


def _positive(lengths: Any) -> Any:
    """Return lengths of chunks; zarr-python accepts 0, for dimensions without elements."""
    if isinstance(lengths, list | tuple):
        return type(lengths)(_positive(length) for length in lengths)
    return (
        1
        if isinstance(lengths, int | np.integer) and lengths == 0 and lengths is not False
        else lengths
    )


def _evolved(codecs: Any, options: Mapping[str, Any]) -> Any:
    """Return codecs of zarr-python with what depends on the data type, such as the stride of Blosc."""
    items = codecs if isinstance(codecs, list | tuple) else [codecs]
    if not any(map(_compresses, items)):
        return codecs
    dtype = options.get("dtype", getattr(options.get("data"), "dtype", np.dtype("f8")))
    spec = _spec_of(dtype)
    if spec is None:
        return codecs
    return [item.evolve_from_array_spec(spec) if _compresses(item) else item for item in items]


def _compresses(codec: Any) -> bool:
    """Whether this is a bytes -> bytes codec of zarr-python; others depend on shapes, too."""
    return isinstance(codec, BytesBytesCodec)


def _spec_of(dtype: Any) -> Any:
    """Return the specification of a chunk of a data type, for codecs of zarr-python.

    None if neither zarr-python nor NumPy has the data type, so that its codecs keep their defaults.
    """
    try:
        data_type: Any = parse_dtype(dtype, zarr_format=3)
    except Exception:  # unknown, or third-party data types that are registered raise it
        try:
            native = as_native_dtype(dtype)
        except TypeError:
            return None
        if native.hasobject or not native.itemsize:
            return None
        data_type = RawBytes(length=native.itemsize)  # codecs take the size of elements
    return ArraySpec(
        shape=(1,),
        dtype=data_type,
        fill_value=data_type.default_scalar(),
        config=ArrayConfig.from_dict({}),
        prototype=default_buffer_prototype(),
    )


def as_native_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the data type of NumPy for a data type of a program."""
    native: np.dtype[Any] = (
        dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") else np.dtype(dtype)
    )
    return native


def _accept_like(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Accept the names of zarr-python for the other array, and take its fill value."""
    for other in ("a", "data"):
        if other in options:
            options["like"] = options.pop(other)
    positional = next((item for item in arguments if not isinstance(item, str)), None)
    like = options.get("like", positional)
    fill_value = getattr(like, "fill_value", None)
    if "fill_value" not in options and (name == "full_like" or "dtype" in options):
        if name == "full_like":
            options["fill_value"] = 0 if fill_value is None else fill_value
        elif name == "empty_like" and fill_value is not None:
            options["fill_value"] = fill_value


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _warn_of(options: Mapping[str, Any]) -> None:
    """Issue the warnings of zarr-python for arguments."""
    if options.get("write_empty_chunks") is not None:
        _warn(
            "The `write_empty_chunks` keyword argument is deprecated; use the `config` keyword "
            "argument, as in `config={'write_empty_chunks': True}`",
            ZarrRuntimeWarning,
        )
    if "compressor" in options and not isinstance(options["compressor"], str):
        _warn(
            "The `compressor` argument is deprecated. Use `compressors` instead.", ZarrUserWarning
        )


def _warn(message: str, category: type[Warning]) -> None:
    warnings.warn(message, category, stacklevel=5)


def _config_of(config: Any) -> Any:
    """Return the settings of an array as a dictionary."""
    for name in ("to_dict", "_asdict"):
        if hasattr(config, name):
            return dict(getattr(config, name)())
    return config


def _format_of(function: Callable[..., Any], options: Mapping[str, Any]) -> int | None:
    node = getattr(function, "__self__", None)
    version: int | None = options.get("zarr_format") or getattr(node, "zarr_format", None)
    return version


def _accept_order(function: Callable[..., Any], options: dict[str, Any]) -> None:
    """In version 2, the order of the settings is the default; in version 3, it has no effect."""
    config = options.get("config") or {}
    order = options.pop("order", None)
    zarr_format = _format_of(function, options)
    if zarr_format == 3 and order in ("C", "F"):
        _warn(
            "The `order` keyword argument has no effect for Zarr format 3 arrays. "
            "To control the memory layout of the array, use the `config` keyword argument.",
            ZarrRuntimeWarning,
        )
    elif zarr_format == 2:  # the order of the elements of a chunk, and of results
        options["order"] = order or config.get("order") or settings.get("array.order")
        options["config"] = {key: value for key, value in config.items() if key != "order"}
        default = settings.get("array.write_empty_chunks")
        if not options["config"].get("write_empty_chunks", default):
            options["config"]["write_empty_chunks"] = "never"  # also if the fill value is undefined
    elif order is not None:
        options["order"] = order
