"""A hierarchy of each format, for tests of commands."""

import numpy as np
import zarr_core as zarr

FORMATS = ("1", "2", "3", "draft", "draft-2021", "n5")
HEIGHT = (np.add.outer(np.arange(100) ** 2, np.arange(80)) % 997).astype("int16")


def make(place, name):
    """A hierarchy with every kind of node that a format supports."""
    zarr_format = int(name) if name.isdigit() else name
    if name == "1":
        zarr.create_array(
            place, data=HEIGHT, chunks=(30, 40), zarr_format=1, attributes={"units": "m"}
        )
        return
    root = zarr.create_group(place, zarr_format=zarr_format, attributes={"n": 10**25})
    names = {"dimension_names": ("y", "x")} if name == "3" else {}
    root.create_array("height", data=HEIGHT, chunks=(30, 40), attributes={"units": "m"}, **names)
    north = root.create_group("north")
    north.create_array("temperature", data=np.linspace(0, 1, 24).reshape(2, 3, 4), chunks=(1, 3, 2))
    if name in ("2", "3"):
        north.create_array("names", data=np.array(["a", "b c", '"'], np.dtypes.StringDType()))
        north.create_array("when", data=np.array(["2024-01-01", "NaT"], "M8[s]"))
        records = np.array([(1, 2.5), (3, np.nan)], [("i", "i4"), ("f", "f8")])
        north.create_array("records", data=records)
    if name == "3":
        shards = north.create_array(
            "shards", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="float32",
            fill_value=np.nan, compressors=["zstd", "crc32c"],
        )  # fmt: skip
        shards[:40, :40] = np.arange(1600).reshape(40, 40)
        north.create_array("raw", data=np.arange(10, dtype="i4"), chunks=4, compressors=None)
        north.create_array("scalar", data=np.float64(2.5))
        zarr.consolidate_metadata(root)
