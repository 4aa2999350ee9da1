"""A pytest plugin that runs xarray's own tests of Zarr with zarr-core.

``pytest -p redirect_to_zarr_core --pyargs xarray.tests.test_backends -k Zarr`` with this directory on
the path.  It replaces xarray's engine ``zarr`` and its ``to_zarr`` methods by those of this
package.  The tests themselves inspect the results with
zarr-python.

Known failures, with reasons, are in ``expected_failures.py``: it must fail.  ``ONE_OF`` in the
environment is a number n: a fixed sample of one test in n is run.
"""

import asyncio
import contextlib
import inspect
import os
import zlib

import pytest
import xarray
import zarr
import zarr_core
from expected_failures import reason_for
from xarray import backends
from zarr_xarray import ZarrCoreBackend, to_zarr
from zarr_xarray.plans import Rules
from zarr_xarray.store import DatasetStore
from zarr_xarray.target import open_target


def _to_zarr(self, store=None, chunk_store=None, mode=None, synchronizer=None, *args, **options):
    positional = ("group", "encoding")
    options = {**dict(zip(positional, args, strict=False)), **options}
    _choose_format(store, mode, options)
    return to_zarr(self, store, mode, **options)


def _tree_to_zarr(self, store, mode="w-", encoding=None, **options):
    _choose_format(store, mode, options)
    return to_zarr(self, store, mode, encoding=encoding, **options)


def _choose_format(store, mode, options):
    """Use the default of zarr-python's settings, which fixtures set, for new nodes."""
    if options.get("zarr_format") is None and not {"append_dim", "region"} & options.keys():
        with contextlib.suppress(ValueError, TypeError):
            if mode in ("a", "r+") and zarr_core.open_group(store, "r") is not None:
                return
        options["zarr_format"] = zarr.config.get("default_zarr_format")


def _open_group(cls, store, mode="r", group=None, zarr_format=None, **options):
    options = {"zarr_format": zarr_format}
    _choose_format(store, mode, options)
    target = open_target(
        store, mode, group, consolidated=False, storage_options=None, write_empty_chunks=None,
        **options,
    )  # fmt: skip
    if target.group is None:
        target.create()
    return _StoreOfOneDataset(target, Rules(mode))


class _StoreOfOneDataset(DatasetStore):
    """Writes what it receives at once, as xarray's store; ``to_zarr`` writes all nodes together."""

    def store(self, *args, **options):
        super().store(*args, **options)
        self.write()


def pytest_configure(config):
    xarray.backends.common.BACKEND_ENTRYPOINTS["zarr"] = (None, ZarrCoreBackend)
    xarray.Dataset.to_zarr = _to_zarr
    xarray.DataArray.to_zarr = _to_zarr
    xarray.DataTree.to_zarr = _tree_to_zarr
    backends.ZarrStore.open_group = classmethod(_open_group)
    backends.refresh_engines()


def pytest_collection_modifyitems(items):
    """Drop tests that are not in the sample; mark the expected failures."""
    one_of = int(os.environ.get("ONE_OF", "1"))
    items[:] = [item for item in items if zlib.crc32(item.name.encode()) % one_of == 0]
    for item in items:
        if reason := reason_for(item.nodeid):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    """Some tests write to the current directory, where others would find it."""
    monkeypatch.chdir(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run coroutines; xarray uses a plugin that may not be installed."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
