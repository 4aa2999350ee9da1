"""A plugin of pytest that has xarray's own tests of Zarr run on zarr-core.

``pytest -p redirected --pyargs xarray.tests.test_backends -k Zarr`` with this directory on
the path.  What xarray reads by its engine ``zarr`` is read by ours then, and what it
writes by ``to_zarr`` is written by ours.  The tests themselves look at what was written with
zarr-python.

What is known to fail, and why, is in ``explained.py``: it must fail.  ``ONE_OF`` in the
environment is a number: of so many tests one is run, always the same.
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
from explained import reason_for
from xarray import backends
from zarr_xarray import ZarrCoreBackend, to_zarr
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
    """The default of zarr-python's settings, which fixtures set, for what is new."""
    if options.get("zarr_format") is None and not {"append_dim", "region"} & options.keys():
        with contextlib.suppress(ValueError, TypeError):
            if mode in ("a", "r+") and zarr_core.open_group(store, "r") is not None:
                return
        options["zarr_format"] = zarr.config.get("default_zarr_format")


def _open_group(cls, store, mode="r", group=None, zarr_format=None, **options):
    options = {"zarr_format": zarr_format}
    _choose_format(store, mode, options)
    target = open_target(
        store, mode, group, consolidate=False, storage_options=None, keep_empty=None,
        **options,
    )  # fmt: skip
    if target.group is None:
        target.make()
    return DatasetStore(target, mode)


def pytest_configure(config):
    xarray.backends.common.BACKEND_ENTRYPOINTS["zarr"] = (None, ZarrCoreBackend)
    xarray.Dataset.to_zarr = _to_zarr
    xarray.DataArray.to_zarr = _to_zarr
    xarray.DataTree.to_zarr = _tree_to_zarr
    backends.ZarrStore.open_group = classmethod(_open_group)
    backends.refresh_engines()


def pytest_collection_modifyitems(items):
    """Leave out what is not in the sample; expect what is explained to fail."""
    one_of = int(os.environ.get("ONE_OF", "1"))
    items[:] = [item for item in items if zlib.crc32(item.name.encode()) % one_of == 0]
    for item in items:
        if reason := reason_for(item.nodeid):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    """Some write beside themselves, where the next would find it."""
    monkeypatch.chdir(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run coroutines, for which xarray has a plugin that need not be there."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
