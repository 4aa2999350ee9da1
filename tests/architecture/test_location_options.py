"""Every public function that takes a location passes the options to the store of that location."""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
import zarr_import
import zarr_stores.integrity.manifest
import zarr_stores.integrity.verify
import zarr_transfer
import zarr_xarray
from zarr_core.errors import StoreError

xarray = pytest.importorskip("xarray")
h5py = pytest.importorskip("h5py")
chunked = pytest.importorskip("dask.array")

PACKAGES = (
    "zarr_core", "zarr_transfer", "zarr_stores", "zarr_import", "zarr_xarray", "zarr_dask",
    "zarr_display", "zarr_formats", "zarr_grids", "zarr_sharding", "zarr_native",
)  # fmt: skip
LOCATION = re.compile(r"^(\w+(?:, \w+)*) : .*store-like", re.MULTILINE)
VALUES = np.arange(10_000, dtype="u2").reshape(100, 100)


class Guarded(zarr.MemoryStore):
    """A store for each host, which only the token of the host opens."""

    hosts = {}

    @classmethod
    def from_url(cls, url, *, read_only=False, token=None):
        host = url.partition("://")[2]
        if token != f"the {host}'s":
            raise StoreError(f"{host} was asked with the token {token!r}")
        return cls(cls.hosts.setdefault(host, {}), read_only=read_only)


@pytest.fixture
def host():
    Guarded.hosts = {}
    root = zarr.group(zarr.MemoryStore(Guarded.hosts.setdefault("host", {})))
    root.create_array("x", data=VALUES, chunks=(1, 100), dimension_names=["a", "b"])
    zarr.consolidate_metadata(root)
    zarr_stores.integrity.manifest.write_manifest(root.store)
    with zarr.override_extensions({"store": {"guarded": Guarded}}):
        yield


def hdf5(path):
    file = h5py.File(path / "source.h5", "w")
    file["y"] = VALUES
    return file


def rechunk(path, copy, **options):
    rows = zarr.create_array(path / "rows", data=VALUES, chunks=(1, 100), overwrite=True)
    copy(rows, path / "columns", chunks=(100, 1), overwrite=True, **options)


def node():
    return zarr.group({}).create_array("y", data=VALUES, chunks=(1, 100))


def group():
    root = zarr.group({})
    root.create_array("y", data=VALUES)
    return root


def dataset():
    return xarray.Dataset({"y": ("a", VALUES[0])})


# The function and the argument; a call with a location, a directory and the options.
CALLS = {
    "zarr_core.array store": lambda at, path, o: zarr.array(VALUES, store=at, path="y", **o),
    "zarr_core.array_from_metadata store": lambda at, path, o: zarr.array_from_metadata(
        at, shape=3, dtype="i2", chunks=2, **o
    ),
    "zarr_formats.check_consolidated group": lambda at, path, o: zarr.check_consolidated(at, **o),
    "zarr_formats.consolidate_metadata store": lambda at, path, o: zarr.consolidate_metadata(
        at, **o
    ),
    "zarr_core.create store": lambda at, path, o: zarr.create(3, store=at, path="y", **o),
    "zarr_core.create_array store": lambda at, path, o: zarr.create_array(
        at, path="y", shape=3, **o
    ),
    "zarr_core.create_group store": lambda at, path, o: zarr.create_group(at, path="y", **o),
    "zarr_transfer.getsize store": lambda at, path, o: zarr.getsize(at, **o),
    "zarr_core.group store": lambda at, path, o: zarr.group(at, **o),
    "zarr_transfer.load store": lambda at, path, o: zarr.load(at, path="x", **o),
    "zarr_core.open store": lambda at, path, o: zarr.open(at, **o),
    "zarr_core.open_array store": lambda at, path, o: zarr.open_array(at, "r", path="x", **o),
    "zarr_formats.open_consolidated store": lambda at, path, o: zarr.open_consolidated(at, **o),
    "zarr_core.open_group store": lambda at, path, o: zarr.open_group(at, "r", **o),
    "zarr_core.remove store": lambda at, path, o: zarr.remove(at, "x", **o),
    "zarr_core.resolve_store_path store": lambda at, path, o: zarr.resolve_store_path(at, **o),
    "zarr_transfer.rmdir store": lambda at, path, o: zarr.rmdir(at, "x", **o),
    "zarr_transfer.save store": lambda at, path, o: zarr.save(
        at, a=VALUES, b=VALUES, path="y", **o
    ),
    "zarr_formats.unconsolidate_metadata store": lambda at, path, o: zarr.unconsolidate_metadata(
        at, **o
    ),
    "zarr_transfer.convert source": lambda at, path, o: zarr.convert(at, {}, **o),
    "zarr_transfer.convert dest": lambda at, path, o: zarr.convert(node(), at, dest_path="y", **o),
    "zarr_transfer.copy dest": lambda at, path, o: zarr.copy(node(), at, "y", **o),
    "zarr_transfer.copy_all dest": lambda at, path, o: zarr.copy_all(group(), at, **o),
    "zarr_transfer.copy_store source": lambda at, path, o: zarr.copy_store(at, {}, **o),
    "zarr_transfer.copy_store dest": lambda at, path, o: zarr.copy_store(
        node().store, at, "", "y", **o
    ),
    "zarr_transfer.move dest": lambda at, path, o: zarr.move(node(), at, "y", **o),
    "zarr_transfer.plan_conversion source": lambda at, path, o: zarr_transfer.plan_conversion(
        at, {}, **o
    ),
    "zarr_transfer.plan_conversion dest": lambda at, path, o: zarr_transfer.plan_conversion(
        node(), at, dest_path="y", **o
    ),
    "zarr_stores.create_manifest store": lambda at, path, o: (
        zarr_stores.integrity.manifest.create_manifest(at, **o)
    ),
    "zarr_stores.integrity.verify store": lambda at, path, o: zarr_stores.integrity.verify.verify(
        at, **o
    ),
    "zarr_import.copy_hdf5 dest": lambda at, path, o: zarr_import.copy_hdf5(
        hdf5(path)["y"], at, **o
    ),
    "zarr_import.copy_all_hdf5 dest": lambda at, path, o: zarr_import.copy_all_hdf5(
        hdf5(path), at, **o
    ),
    "zarr_import.import_hdf5 dest": lambda at, path, o: zarr_import.import_hdf5(
        hdf5(path), at, path="y", **o
    ),
    "zarr_xarray.append store": lambda at, path, o: zarr_xarray.append(
        dataset(), at, "a", group="y", **o
    ),
    "zarr_xarray.Appender store": lambda at, path, o: zarr_xarray.Appender(
        at, "a", group="y", **o
    ).append(dataset()),
    "zarr_xarray.to_zarr store": lambda at, path, o: zarr_xarray.to_zarr(
        dataset(), at, group="y", **o
    ),
    "zarr_dask.from_zarr source": lambda at, path, o: zarr_dask.from_zarr(at, "x", **o),
    "zarr_dask.to_zarr store": lambda at, path, o: zarr_dask.to_zarr(
        chunked.ones(3), at, "y", scheduler="sync", **o
    ),
    "zarr_dask.Workers temp_store": lambda at, path, o: rechunk(
        path, zarr.copy, executor=zarr_dask.Workers("sync", 1 << 20, at, **o)
    ),
}
OTHER_NAMES = {
    "zarr_transfer.convert dest": "dest_storage_options",
    "zarr_transfer.plan_conversion dest": "dest_storage_options",
    "zarr_transfer.copy_store source": "source_storage_options",
    "zarr_transfer.copy_store dest": "dest_storage_options",
    "zarr_dask.Workers temp_store": "temp_storage_options",
}


def locations():
    """The location arguments of the public functions and classes, from their documentation."""
    for package in PACKAGES:
        top = importlib.import_module(package)
        modules = [top]
        if package == "zarr_stores":  # the other packages have all functions at the top
            modules += [
                importlib.import_module(f"{package}.{module.name}")
                for module in pkgutil.iter_modules(top.__path__)
                if not module.name.startswith("_")
            ]
        for module in modules:
            for name in getattr(module, "__all__", ()):
                member = getattr(module, name)
                if not callable(member) or not str(member.__module__).startswith(package):
                    continue
                described = LOCATION.findall(inspect.getdoc(member) or "")
                arguments = {argument for it in described for argument in it.split(", ")}
                if inspect.isfunction(member):
                    signature = inspect.signature(member).parameters.items()
                    arguments |= {it for it, kind in signature if "StoreLike" in str(kind)}
                yield from (f"{package}.{name} {argument}" for argument in arguments)


def test_every_function_is_tested():
    assert set(locations()) <= CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_the_store_of_the_location_receives_the_options(host, tmp_path, name):
    option = OTHER_NAMES.get(name, "storage_options")
    with pytest.raises(StoreError, match="host was asked with the token None"):
        CALLS[name]("guarded://host", tmp_path, {})
    CALLS[name]("guarded://host", tmp_path, {option: {"token": "the host's"}})


@pytest.mark.parametrize("name", CALLS)
def test_options_that_have_no_effect_are_rejected(host, tmp_path, name):
    option = OTHER_NAMES.get(name, "storage_options")
    store = Guarded(Guarded.hosts["host"])
    with pytest.raises(StoreError, match="storage_options requires a URL"):
        CALLS[name](store, tmp_path, {option: {"token": "unused"}})
