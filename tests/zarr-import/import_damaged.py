"""Import damaged copies of valid files, in a separate process, as libhdf5 may hang or crash.

Usage: python import_damaged.py KIND FOLDER FIRST LAST

Prints the number of each copy before it is imported, then one line with the outcome:
``done``, ``refused`` (an error of this project) or ``foreign`` with the error.
"""

import random
import resource
import sys
import warnings
from pathlib import Path

import numpy as np
import zarr_core as zarr
from zarr_core.extension import ZarrError
from zarr_import import import_hdf5

MAX_ADDRESS_SPACE = 4 << 30


def write_file(kind, path):
    values = np.arange(600, dtype=">i4").reshape(20, 30)
    if kind == "nc3":
        from scipy.io import netcdf_file

        with netcdf_file(path, "w") as file:
            file.title = "damaged"
            file.createDimension("t", None)
            file.createDimension("x", 30)
            for name, type_ in (("v", "i4"), ("w", "f8")):
                variable = file.createVariable(name, type_, ("t", "x"))
                variable.units = "m"
                variable[:20] = values
            file.createVariable("x", "f4", ("x",))[:] = np.arange(30)
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            data = file.create_dataset("g/a", data=values, chunks=(7, 9), compression="gzip")
            data.attrs["units"] = "m"
            data.attrs["list"] = [1.5, 2.5]
            data.attrs["words"] = ["one", "two"]
            file["g/b"] = values
            file["texts"] = ["a", "bc"]
            file["records"] = np.zeros(5, [("a", "i1"), ("b", ">f8")])
            file.create_dataset("f", data=values, chunks=(5, 30), fletcher32=True, shuffle=True)
            file["soft"] = h5py.SoftLink("/g/b")
            file["refs"] = np.array([file["g"].ref], h5py.ref_dtype)
    else:
        import netCDF4

        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 30)
            file.title = "damaged"
            variable = file.createVariable("v", "i4", ("t", "x"), zlib=True, fill_value=-1)
            variable.units = "m"
            variable[:] = values
            file.createVariable("x", "f8", ("x",))[:] = np.arange(30)


def damage(data, rng):
    """Flip bits, overwrite numbers, cut, repeat or remove a part."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data)) if len(data) else 0
        if rng.random() < 0.5:  # most file formats have their structure here
            at = min(at, rng.randrange(1, 2000))
        match rng.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1 if data:
                data[at % len(data)] = rng.randrange(256)
            case 2:
                width = rng.choice((2, 4, 8))
                data[at : at + width] = rng.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * width
            case 3:
                del data[at:]
            case 4:
                data[at:at] = data[at : at + rng.randrange(1, 64)]
            case _:
                del data[at : at + rng.randrange(1, 64)]
    return bytes(data)


def main(kind, folder, first, last):
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, soft))
    warnings.simplefilter("ignore")
    suffix = {"nc3": "nc", "nc4": "nc"}.get(kind, kind)
    whole, damaged = Path(folder, f"whole.{suffix}"), Path(folder, f"damaged.{suffix}")
    write_file(kind, whole)
    data = whole.read_bytes()
    for number in range(first, last):
        print(number, end=" ", flush=True)
        damaged.write_bytes(damage(data, random.Random(f"{kind} {number}")))
        store = zarr.MemoryStore()
        try:
            import_hdf5(damaged, store, unsupported=("raise", "skip")[number % 2])
        except ZarrError as error:
            text = str(error)
            named = damaged.name in text
            print("refused" if named and len(text) < 2000 else f"unnamed {text!r}", flush=True)
        except Exception as error:
            print(f"foreign {type(error).__name__}: {error}".replace("\n", " "), flush=True)
        else:
            print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
