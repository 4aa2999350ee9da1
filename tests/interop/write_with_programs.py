"""Write files with the programs that are installed: ``python write_with_programs.py DIRECTORY``.

``python -m zarr_compat write_with_programs.py DIRECTORY`` writes them with this library.
"""

import sys
from importlib.util import find_spec
from inspect import signature
from pathlib import Path

import numpy as np

ELEMENTS = np.random.default_rng(0).normal(size=(7, 5))


def with_xarray(place, zarr_format):
    import xarray as xr

    values = ELEMENTS.copy()
    values[0, 0] = np.nan
    coordinates = {
        "x": np.arange(7),
        "y": np.linspace(0, 1, 5),
        "t": np.datetime64("2020-01-01", "s"),
    }
    data = {"a": (("x", "y"), values, {"units": "m"}), "b": ("x", np.arange(7) % 2 == 0)}
    encoding = {"a": {"chunks": (3, 2), "_FillValue": -1.0}}
    dataset = xr.Dataset(data, coordinates, {"title": "made", "n": 3})
    dataset.to_zarr(place, mode="w", zarr_format=zarr_format, encoding=encoding)
    dataset.isel(x=slice(2)).to_zarr(place, append_dim="x")


def with_dask(place, zarr_format):
    import dask.array as da

    array = da.from_array(ELEMENTS, chunks=(3, 5))
    options = {"zarr_format": zarr_format}
    if "zarr_read_kwargs" in signature(da.to_zarr).parameters:  # some releases take a dictionary
        options = {"zarr_array_kwargs": options}
    da.to_zarr(array, str(place), **options)


def with_anndata(place, zarr_format):
    import anndata
    import pandas as pd
    import scipy.sparse

    anndata.settings.zarr_write_format = zarr_format
    kinds = pd.DataFrame({"kind": pd.Categorical(list("aabbabb"))}, index=list("abcdefg"))
    sparse = scipy.sparse.csr_matrix(np.where(ELEMENTS > 0, ELEMENTS, 0))
    anndata.AnnData(sparse, kinds, layers={"dense": ELEMENTS}).write_zarr(place)


def with_ome_zarr(place, zarr_format):
    import ome_zarr.format
    import ome_zarr.writer
    import zarr

    group = zarr.open_group(str(place), mode="w", zarr_format=zarr_format)
    version = {2: ome_zarr.format.FormatV04, 3: ome_zarr.format.FormatV05}[zarr_format]()
    image = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    ome_zarr.writer.write_image(image, group, axes="yx", fmt=version, scaler=None)


def with_cubed(place, zarr_format):
    import cubed
    from zarr import config

    with config.set({"default_zarr_format": zarr_format}):
        cubed.to_zarr(cubed.from_array(ELEMENTS, chunks=(3, 5)) + 1, str(place))


def with_spatialdata(place, zarr_format):
    import spatialdata
    from spatialdata._io.format import SpatialDataContainerFormatV01, SpatialDataContainerFormatV02
    from spatialdata.models import Image2DModel

    version = {2: SpatialDataContainerFormatV01, 3: SpatialDataContainerFormatV02}[zarr_format]()
    image = Image2DModel.parse(np.arange(3 * 8 * 8, dtype="u2").reshape(3, 8, 8), dims="cyx")
    spatialdata.SpatialData(images={"image": image}).write(place, sdata_formats=version)


def with_bio2zarr(place, zarr_format):
    import zarr
    from bio2zarr import zarr_utils

    group = zarr.open_group(str(place), mode="w", zarr_format=zarr_format)
    options = {"chunks": (3, 2), "compressor": zarr_utils.DEFAULT_COMPRESSOR_CONFIG}
    array = zarr_utils.create_empty_group_array(
        group, "x", shape=(7, 5), dtype="f8", dimension_names=["x", "y"], **options
    )
    array[:] = ELEMENTS


def with_pydantic_zarr(place, zarr_format):
    from importlib import import_module

    module = import_module(f"pydantic_zarr.v{zarr_format}")
    spec = module.GroupSpec(
        attributes={"n": 1}, members={"x": module.ArraySpec.from_array(ELEMENTS)}
    )
    import zarr

    spec.to_zarr(zarr.storage.LocalStore(place), path="")["x"][:] = ELEMENTS


PROGRAMS = {
    "xarray": with_xarray,
    "dask": with_dask,
    "anndata": with_anndata,
    "ome_zarr": with_ome_zarr,
    "cubed": with_cubed,
    "spatialdata": with_spatialdata,
    "bio2zarr": with_bio2zarr,
    "pydantic_zarr": with_pydantic_zarr,
}


if __name__ == "__main__":
    for name, write in PROGRAMS.items():
        if find_spec(name) is not None:
            for zarr_format in (2, 3):
                write(Path(sys.argv[1], f"{name}-{zarr_format}"), zarr_format)
