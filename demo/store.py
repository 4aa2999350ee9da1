"""Write the samples as a hierarchy of chunked arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core as zarr

if TYPE_CHECKING:
    from pathlib import Path

    from demo.samples import Sample

# The samples are small, so the chunks are too: a window then needs some of them, not all.
# An axis is one chunk; it is always read whole.
LAYOUTS: dict[str, dict[str, Any]] = {
    "terrain/elevation": {
        "chunks": (32, 32),
        "shards": (192, 224),
        "compressors": [{"name": "zstd", "configuration": {"level": 9, "checksum": True}}],
    },
    "coast/height": {
        "chunks": (48, 64),
        "compressors": [{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}}],
    },
    "head/slice": {
        "chunks": (64, 64),
        "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        "compressors": [{"name": "gzip", "configuration": {"level": 6}}, "crc32c"],
    },
}


def write(samples: list[Sample], target: Path) -> zarr.Group:
    """Write the samples and overwrite an existing hierarchy.

    Parameters
    ----------
    samples : list of Sample
        What to write.
    target : Path
        Directory of the hierarchy.
    """
    root = zarr.create_group(
        target, overwrite=True, attributes={"title": "samples that ship with matplotlib"}
    )
    for sample in samples:
        root.create_array(
            sample.path,
            data=sample.values,
            dimension_names=sample.dimension_names,
            attributes={**sample.attributes, "source": sample.source},
            **LAYOUTS.get(sample.path, {"chunks": -1}),
        )
    zarr.consolidate_metadata(root)
    return zarr.open_group(target, mode="r")
