"""Codecs for the filters of HDF5."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition

from zarr_import.errors import UnsupportedSourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON

# Registered identifiers of filters.
_LZ4, _BITSHUFFLE, _BLOSC2 = 32004, 32008, 32026
_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")
_NAMES = {
    4: "szip", 5: "nbit", 6: "scaleoffset", 305: "lzo", 32000: "lzf", _LZ4: "lz4",
    _BITSHUFFLE: "bitshuffle", 32013: "zfp", 32017: "sz", _BLOSC2: "blosc2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filters:
    """The codecs that correspond to a filter pipeline."""

    codecs: list[ExtensionDefinition] | None = None  # after the serializer; None for the default
    exact: bool = False  # whether they produce the same bytes
    notes: list[str] = field(default_factory=list)  # differences from the source


def filters_of(h5py: Any, dataset: Any, itemsize: int | None) -> Filters:
    """Return the codecs for the filters of a dataset.

    Deflate, bzip2, zstd, blosc, byte shuffle and the checksum produce identical bytes.  LZ4,
    bitshuffle and blosc2 are framed differently in Zarr; their data is encoded again with the
    closest codec.  ``itemsize`` is that of an element in Zarr, None if variable; in the file it may
    differ, as filters apply to references to variable-length data.  Raises UnsupportedSourceError
    if a filter is not available to h5py.
    """
    properties = dataset.id.get_create_plist()
    codecs: list[ExtensionDefinition] = []
    exact = True
    notes: list[str] = []
    for number in range(properties.get_nfilters()):
        code, _, values, label = properties.get_filter(number)
        if not h5py.h5z.filter_avail(code):
            label = label.decode("latin-1") or _NAMES.get(code, "")
            raise UnsupportedSourceError(
                dataset.name,
                f"the filter {code} ({label}) is not installed, so the dataset cannot be read: "
                "pip install 'zarr-import[filters]'",
            )
        mapped = _codec(code, values, itemsize or 1)
        if mapped is None:
            exact = False
            notes.append(f"the filter {_NAMES.get(code, code)} is removed; no codec supports it")
            continue
        definition, same = mapped
        if not same:
            exact = False
            notes.append(f"the filter {_NAMES[code]} is replaced by {definition.name}")
        if definition.configuration != {"elementsize": 1}:  # which shuffles nothing
            codecs.append(definition)
    compressors = {codec.name for codec in codecs} - {"numcodecs.shuffle", "numcodecs.fletcher32"}
    if not exact and not compressors:
        return Filters(None, False, notes)
    return Filters(codecs or None, exact and bool(codecs), notes)


def _codec(
    code: int, values: Sequence[int], itemsize: int
) -> tuple[ExtensionDefinition, bool] | None:
    """Return the codec of a filter, and whether it produces the same bytes."""

    def value(number: int, default: int) -> int:
        return int(values[number]) if len(values) > number else default

    exact = code not in (_LZ4, _BITSHUFFLE, _BLOSC2)
    configuration: dict[str, JSON] = {}
    match code:
        case 1:
            name, configuration = "numcodecs.zlib", {"level": value(0, 1)}
        case 2:
            name, configuration = "numcodecs.shuffle", {"elementsize": itemsize}
        case 3:
            name = "numcodecs.fletcher32"
        case 307:
            name, configuration = "numcodecs.bz2", {"level": value(0, 9)}
        case 32015:
            name, configuration = "zstd", {"level": value(0, 3), "checksum": False}
        case 32001 | 32026:
            name, configuration = "blosc", _blosc(value, itemsize)
        case 32004:
            name, configuration = "numcodecs.lz4", {"acceleration": 1}
        case 32008:
            inner = "zstd" if value(4, 0) == 3 else "lz4"
            name, configuration = "blosc", _blosc_of(inner, 5, 2, itemsize)
        case _:
            return None
    # zarr-python requires the configuration of numcodecs' codecs, even if it is empty.
    document: JSON = {"name": name, "configuration": configuration}
    return ExtensionDefinition.from_json(document), exact


def _blosc(value: Any, itemsize: int) -> dict[str, JSON]:
    number = value(6, 0)
    name = _COMPRESSORS[number] if number < len(_COMPRESSORS) else "zstd"
    return _blosc_of(name, min(value(4, 5), 9), value(5, 1), itemsize)


def _blosc_of(name: str, level: int, shuffle: int, typesize: int) -> dict[str, JSON]:
    return {
        "cname": name,
        "clevel": level,
        "shuffle": _SHUFFLES[shuffle] if shuffle < len(_SHUFFLES) else "shuffle",
        "typesize": min(max(1, typesize), 255),
        "blocksize": 0,
    }
