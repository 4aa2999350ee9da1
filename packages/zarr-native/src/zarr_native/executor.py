"""The native executor of zarr-core, which also works if the compiled module is missing."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from zarr_core.extension import NativeExecutor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import NativePlan, StoredArray


@cache
def _problem() -> str:
    """Why the compiled module cannot be used; empty if it can.

    The modules that need it are imported afterwards: in other threads, a module whose import fails
    is visible without its names.
    """
    try:
        import_module("zarr_native._native")
    except ImportError as error:
        return str(error)
    return ""


class Executor(NativeExecutor):
    """Processes chunks in a local directory or in memory by compiled code."""

    def plan(self, array: StoredArray) -> NativePlan | str:
        if problem := _problem():
            return f"zarr-native was installed without its compiled module ({problem})"
        from zarr_native.plan import create_plan  # only now, see _problem

        return create_plan(array)

    def describe(self) -> Mapping[str, str]:
        if problem := _problem():
            return {"compiled module": f"missing ({problem})"}
        from zarr_native.libraries import origins  # only now, see _problem

        return origins()
