"""Compare an existing array with partial metadata and with arguments of ``create_array``."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from numpy import can_cast

from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import inner_order
from zarr_core.errors import MetadataError, MetadataMismatchError
from zarr_core.metadata.validation import ARRAY_MEMBERS
from zarr_core.normalize.array_metadata import (
    DEFAULTS,
    NEW_ARRAY,
    fill_value_errors,
    grid_of,
    other_members,
    parse_order,
    parse_shape,
)
from zarr_core.normalize.chunk_shapes import AUTO
from zarr_core.normalize.codecs import SHARDING, is_auto
from zarr_core.normalize.compare_metadata import (
    definition_of,
    differences,
    document_of,
    inner_codecs,
    split_codecs,
    without_format_codec,
)
from zarr_core.normalize.complete_metadata import (
    LAYOUT_ARGUMENTS,
    fill_lengths,
    lengths_of,
    merge_layout,
    sharding_in,
)
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.normalize.definitions import parse_definition
from zarr_core.normalize.partial_metadata import as_partial
from zarr_core.registry.scope import cache_key, override_extensions

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from zarr_core.definition import JSON
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.metadata.validation_problem import ValidationProblem


# The attributes and additional fields of constraints whose other members an array has, by the
# content of both; limited by the bytes of the keys.
_satisfied: Cache[Hashable, list[dict[str, Any]]] = Cache(1 << 20, largest=1 << 15)


def check_array(
    stored: StoredArray,
    metadata: Any,
    arguments: Mapping[str, Any],
    *,
    casts: bool = False,
) -> None:
    """Compare an existing array with partial metadata and with arguments of ``create_array``.

    ``casts`` permits any dtype to which that of the arguments can be cast safely.

    Raises
    ------
    MetadataMismatchError
        If the array is not as expected; has all differences.
    TypeError, ValueError, ExtensionError
        If the metadata or an argument is not valid for any array.
    """
    found, content = stored.metadata, stored.metadata.extensions_key
    with override_extensions(stored.extensions):
        try:
            text = pickle.dumps((metadata, [*arguments.items()], casts), 4)
        except Exception:  # contains objects that cannot be pickled
            text = b""
        key = (text, content, found.shape, found.dimension_names, stored.format.name, cache_key())
        known = _satisfied.get(key) if text and content else None
        expected = known
        if expected is None:
            expected = [] if metadata is None else [as_partial(metadata).document]
            if arguments:
                expected = [*expected, _expected_members(arguments, stored, casts)]
        problems: dict[ValidationProblem, None] = {}
        for document in expected:
            problems.update(dict.fromkeys(differences(found, document)))
    if problems:
        raise MetadataMismatchError(stored.location, problems)
    if known is None and text and content:
        varying = [
            {
                name: value
                for name, value in document.items()
                if name not in ARRAY_MEMBERS or (name == "attributes" and value)
            }
            for document in expected
        ]
        varying = [document for document in varying if document]
        _satisfied.keep(key, varying, len(text) + len(content))


def _expected_members(
    arguments: Mapping[str, Any], stored: StoredArray, casts: bool
) -> dict[str, Any]:
    """The arguments of ``create_array`` as a part of the document of an existing array.

    ``"auto"`` determines nothing, and neither does None, except no filters or compressors.
    """
    given = {
        name: value
        for name, value in arguments.items()
        if name in DEFAULTS
        and not is_auto(value)
        and value is not ...
        and (value is not None or name in ("filters", "compressors"))
    }
    expected: dict[str, Any] = {}
    metadata, format_ = stored.metadata, stored.format
    shape, data_type = metadata.shape, stored.resolved.data_type
    byte_order = None
    if "shape" in given:
        shape = parse_shape(given["shape"])
        expected["shape"] = [*shape]
    if "dtype" in given:
        wanted, byte_order = parse_data_type(given["dtype"])
        is_cast = casts and can_cast(wanted.numpy_dtype, stored.resolved.dtype)
        # The codecs of version 2 determine which objects are stored.
        of_codecs = wanted.numpy_dtype.kind == "O" and data_type.numpy_dtype.kind in "OT"
        if is_cast:
            byte_order = None
        else:
            data_type = wanted
            if not of_codecs:
                expected["data_type"] = wanted.to_definition().to_json()
    if "fill_value" in given:
        expected["fill_value"] = _fill_value_json(given["fill_value"], data_type, stored)
    expected.update(other_members(given, format_))
    encoding = definition_of(expected.pop("chunk_key_encoding"))
    if "chunk_key_encoding" in given:
        with suppress(MetadataError):  # the format may have another one for it
            changed = metadata.replace(chunk_key_encoding=encoding)
            encoding = format_.to_format(changed, NEW_ARRAY).chunk_key_encoding
        expected["chunk_key_encoding"] = encoding.to_json()
    if len(shape) == metadata.ndim:
        expected.update(_expected_layout(given, stored, shape, byte_order))
    return expected


def _fill_value_json(value: Any, data_type: DataType, stored: StoredArray) -> JSON:
    """The JSON form of a fill value; for a stored data type that cannot have it, as a float64."""
    with fill_value_errors("fill_value"):
        try:
            return data_type.fill_value_to_json(data_type.cast(value))
        except (ValueError, TypeError, OverflowError):
            if data_type is stored.resolved.data_type:
                with suppress(ValueError, TypeError, OverflowError):
                    number = parse_data_type("float64")[0]
                    return number.fill_value_to_json(number.cast(value))
            raise


def _expected_layout(
    given: dict[str, Any], stored: StoredArray, shape: tuple[int, ...], byte_order: str | None
) -> dict[str, Any]:
    """The chunk grid and the codecs that arguments determine."""
    layout = {name: given[name] for name in LAYOUT_ARGUMENTS[:-1] if name in given}
    stored_order = inner_order(stored.codecs) if {"order", "filters"} & layout.keys() else None
    if "order" in layout and (*parse_order(layout["order"], len(shape)),) == stored_order:
        if "filters" not in layout:
            del layout["order"]
    elif "filters" in layout and stored.format.filters_and_compressors(stored.metadata):
        layout.setdefault("order", stored_order)  # not one of the filters
    if not layout and byte_order is None:
        return {}
    document: dict[str, Any] = document_of(stored.metadata)
    document["codecs"], _ = without_format_codec(stored.metadata.codecs)
    sharding = sharding_in(split_codecs(document["codecs"]))
    if sharding is None and layout.get("shards"):
        shards = layout.pop("shards")
        is_layout = hasattr(shards, "aspect_ratio")
        shards = shards.get("shape", AUTO) if isinstance(shards, dict) else shards
        grid = definition_of(document["chunk_grid"])
        shards = fill_lengths(shards, lengths_of(grid, document, shape), shape, "shards")
        expected = grid_of(shards) if isinstance(shards, tuple) else grid
        # A layout gives no shards of one chunk.
        if isinstance(shards, tuple) and not (is_layout and expected == grid):
            return {"chunk_grid": expected.to_json(), "codecs": [SHARDING.name]}
    elif sharding is not None and layout.get("shards") is False:
        document["codecs"] = inner_codecs(sharding, "codecs") or ()
        document["chunk_grid"] = ExtensionDefinition(
            "regular", {"chunk_shape": sharding.configuration["chunk_shape"]}
        )
    merged = merge_layout(document, layout, shape, byte_order=byte_order)
    serializer, chunks = merged["serializer"], merged["chunks"]
    codecs = [*merged["filters"], *([] if is_auto(serializer) else [serializer])]
    grid = grid_of(chunks) if isinstance(chunks, tuple) else parse_definition(chunks, "chunk grid")
    return {
        "chunk_grid": grid.to_json(),
        "codecs": [definition.to_json() for definition in codecs + merged["compressors"]],
    }
