"""Descriptions of features, and what to do about them."""

from __future__ import annotations

_FORMATS = {"v1": "version 1", "v2": "version 2", "v3": "version 3", "n5": "N5", "draft": "the draft of version 3"}  # fmt: skip
_KINDS = {
    "data_type": "the data type",
    "dtype": "the data type",
    "codec": "the codec",
    "codec after sharding": "after sharding the codec",
    "compressor": "the compressor",
    "filter": "the filter",
    "filters": "filters",
    "chunk_grid": "the chunk grid",
    "chunk_key_encoding": "the chunk key encoding",
    "storage_transformer": "the storage transformer",
    "storage_transformers": "storage transformers",
    "fill_value": "a fill value of the form",
    "inner codec": "within shards the codec",
    "index codec": "for the index of shards the codec",
    "dimension_separator": "the separator",
    "order": "the order",
    "byte order": "the byte order",
    "attributes": "attributes:",
    "dimension_names": "dimension names:",
    "additional field": "an additional field:",
    "dataType": "the data type",
    "compression": "the compression",
}


def describe(feature: str) -> str:
    """Return a feature in words, such as ``the codec zstd (checksum=false)``."""
    base, *parts = feature.split("/")
    if base == "name":
        return f"a node name ({' '.join(parts)})"
    if parts and parts[0].startswith("consolidated: "):  # followed by a feature
        rest = "/".join((parts[0].removeprefix("consolidated: "), *parts[1:]))
        return f"consolidated metadata with {describe(rest)}"
    if not parts:
        return _FORMATS.get(base, base)
    kind, *others = parts
    words = _KINDS.get(kind, kind.replace("_", " "))
    if not others:
        return words.removesuffix(":")
    more = f" ({', '.join(others[1:])})" if len(others) > 1 else ""
    return f"{words} {others[0] if others[0] != '?' else 'that is not in the table'}{more}"


# The data types of text and bytes, in version 2 by their kind.
_TEXTS = frozenset({
    "O", "S", "U", "V", "string", "bytes", "variable_length_bytes", "variable_length_utf8",
    "fixed_length_utf32", "null_terminated_bytes", "fixed_length_ascii", "raw_bytes",
})  # fmt: skip


# The options of ``zarr-core convert`` that change what a feature is about.
_CODECS = "--compressor, --filter, --serializer or --shards"
_OPTIONS = {
    "codec": _CODECS,
    "codec after sharding": _CODECS,
    "inner codec": _CODECS,
    "index codec": _CODECS,
    "compressor": "--compressor",
    "filter": "--filter",
    "filters": "--filter",
    "order": "--filter",
    "chunk_grid": "--chunks",
    "chunk_key_encoding": "--chunk-key-encoding",
    "dimension_separator": "--chunk-key-encoding",
}


def remedy(feature: str) -> str:
    """Return what to do about a feature that a library does not read."""
    base, *parts = feature.split("/")
    kind = parts[0] if parts else ""
    if base == "name":
        return "rename the node: zarr-core move"
    if kind.startswith("consolidated"):
        return "remove the consolidated metadata: zarr-core consolidate --remove"
    if kind.startswith(("data_type", "dtype", "byte order in a struct")):
        name = parts[1].split(" ")[0] if len(parts) > 1 else ""
        if name in _TEXTS:  # cannot be converted to numbers
            return (
                "store numbers, such as the codes of categories, and the texts in the attributes; "
                "other libraries read texts, and some only text of variable or of fixed length"
            )
        if name == "struct":
            return "store each field as an array of its own"
        return "store another data type: dtype=, or zarr-core convert --dtype"
    if kind in ("attributes", "dimension_names", "additional field") or kind.startswith("group"):
        return "remove it from the metadata"
    if kind in ("no dimensions", "length 0", "more than 32 dimensions"):
        return "store an array of another shape"
    if kind == "fill_value":
        return "store another fill value: fill_value=, or zarr-core convert --fill-value"
    option = _OPTIONS.get(kind, "--zarr-format")
    return f"convert it, with another {option}: zarr-core convert SOURCE DEST"
