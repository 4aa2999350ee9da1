"""Adapter for GDAL, by the C interface for arrays of the library in the wheels of rasterio.

The wheels contain no Python interface for arrays of any number of dimensions.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_conformance.adapters.adapter import Adapter, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

rasterio: Any = importlib.import_module("rasterio")

# Numeric GDALDataType, as of GDAL 3.11.
_TYPES = {
    1: "u1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "<f8", 10: "<c8", 11: "<c16",
    12: "<u8", 13: "<i8", 14: "i1", 15: "<f2",
}  # fmt: skip
_STRING = 1  # GEDTC_STRING
_MULTIDIMENSIONAL, _VERBOSE = 0x10, 0x40


def _library() -> Any:
    folder = Path(rasterio.__file__).parent.parent / "rasterio.libs"
    gdal = ctypes.CDLL(str(next(folder.glob("libgdal-*.so*"))))
    gdal.GDALAllRegister()
    for name in (
        *("GDALOpenEx", "GDALDatasetGetRootGroup", "GDALGroupOpenMDArrayFromFullname"),
        *("GDALGroupOpenGroupFromFullname", "GDALMDArrayGetDataType", "GDALMDArrayGetDimensions"),
    ):
        getattr(gdal, name).restype = ctypes.c_void_p
    gdal.CPLGetLastErrorMsg.restype = ctypes.c_char_p
    gdal.GDALDimensionGetSize.restype = ctypes.c_uint64
    return gdal


class Gdal(Adapter):
    """Arrays and groups of versions 2 and 3."""

    implementation = "gdal"
    formats = (2, 3)

    def __init__(self) -> None:
        self._gdal = _library()

    def version(self) -> str:
        return str(rasterio.__gdal_version__)

    def _call(self, name: str, *arguments: Any) -> Any:
        self._gdal.CPLErrorReset()
        found = getattr(self._gdal, name)(*arguments)
        if not found:
            raise RuntimeError(self._gdal.CPLGetLastErrorMsg().decode() or f"{name} returned NULL")
        return found

    def _root(self, request: Mapping[str, Any]) -> tuple[Any, Any]:
        drivers = (ctypes.c_char_p * 2)(b"Zarr", None)
        flags = _MULTIDIMENSIONAL | _VERBOSE
        file = self._call("GDALOpenEx", request["store"].encode(), flags, drivers, None, None)
        data = ctypes.c_void_p(file)
        return data, ctypes.c_void_p(self._call("GDALDatasetGetRootGroup", data))

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        data, root = self._root(request)
        try:
            path = f"/{request['path']}".encode()
            if request["path"]:
                self._call("GDALGroupOpenGroupFromFullname", root, path, None)
            return {"node_type": "group"}
        finally:
            self._gdal.GDALReleaseDataset(data)

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        # An array at the root has the name of the directory, without the suffix.
        path = request["path"] or Path(request["store"]).stem
        data, root = self._root(request)
        try:
            return {"node_type": "array"}, self._read(root, f"/{path}".encode())
        finally:
            self._gdal.GDALReleaseDataset(data)

    def _read(self, root: Any, path: bytes) -> Any:
        gdal = self._gdal
        array = ctypes.c_void_p(self._call("GDALGroupOpenMDArrayFromFullname", root, path, None))
        count = ctypes.c_size_t()
        listed = gdal.GDALMDArrayGetDimensions(array, ctypes.byref(count))
        ndim = count.value
        dimensions = (ctypes.c_void_p * ndim).from_address(listed) if ndim else ()
        shape = [gdal.GDALDimensionGetSize(ctypes.c_void_p(it)) for it in dimensions]
        kind = ctypes.c_void_p(self._call("GDALMDArrayGetDataType", array))
        which = gdal.GDALExtendedDataTypeGetClass(kind)
        start = (ctypes.c_uint64 * max(ndim, 1))(*[0] * ndim)
        counts = (ctypes.c_size_t * max(ndim, 1))(*shape)
        if which == _STRING:
            texts = (ctypes.c_char_p * int(np.prod(shape)))()
            into: Any = texts
        elif which == 0 and (number := gdal.GDALExtendedDataTypeGetNumericDataType(kind)) in _TYPES:
            elements = np.empty(shape, _TYPES[number])
            into = elements.ctypes.data_as(ctypes.c_void_p)
        else:
            raise UnsupportedError("structures are not read by this adapter")
        if 0 not in shape:
            self._call("GDALMDArrayRead", array, start, counts, None, None, kind, into, None, ctypes.c_size_t(0))  # fmt: skip
        if which != _STRING:
            return elements
        flat = np.array([(it or b"").decode() for it in texts], object)
        return flat.reshape(shape)


if __name__ == "__main__":
    if sys.argv[1:]:
        raise SystemExit("takes no arguments")
    Gdal().serve()
