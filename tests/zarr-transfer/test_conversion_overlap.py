"""A conversion onto its own source through another path raises an error before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core as zarr
from zarr_transfer import convert
from zarr_transfer.errors import ConversionError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("source", "dest", "dest_path"), [("a/g", "a", "g"), ("a", "a/g", None), ("a/g", "a", None)]
)
@pytest.mark.parametrize("options", [{"overwrite": True, "chunks": 2}, {"remove_source": True}])
def test_an_overlap_is_rejected(
    tmp_path: Path, source: str, dest: str, dest_path: str | None, options: dict[str, Any]
) -> None:
    zarr.create_group(tmp_path / "a").create_array("g/x", data=np.arange(6), chunks=3)
    with pytest.raises(ConversionError, match="overlap"):
        convert(tmp_path / source, tmp_path / dest, dest_path=dest_path, **options)
    assert zarr.open_array(tmp_path / "a/g/x")[:].tolist() == [0, 1, 2, 3, 4, 5]
