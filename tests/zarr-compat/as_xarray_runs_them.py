"""A plugin of pytest for xarray's tests where they are installed without xarray's conftest.py.

It leaves out tests for parameters that they are not meant for, and runs coroutines.
"""

import asyncio
import inspect

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "skip_if_param(reason, condition, **params): not for these")


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("skip_if_param"):
            options = dict(mark.kwargs)
            reason, condition = options.pop("reason", ""), options.pop("condition", True)
            params = getattr(getattr(item, "callspec", None), "params", {})
            if condition and all(params.get(name) == value for name, value in options.items()):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
