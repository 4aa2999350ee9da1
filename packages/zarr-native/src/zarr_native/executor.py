"""The native executor of zarr-core, which also works if the compiled module is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import NativeExecutor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import NativePlan
    from zarr_core.tools import StoredArray

_MODULE = "zarr_native._native"


class Executor(NativeExecutor):
    """Processes chunks in a local directory or in memory by compiled code."""

    def plan(self, array: StoredArray) -> NativePlan | str:
        try:
            from zarr_native.plan import create_plan  # loads the compiled module
        except ImportError as error:
            if error.name != _MODULE and "cannot import name '_native'" not in str(error):
                raise
            return f"zarr-native was installed without its compiled module ({error})"
        return create_plan(array)

    def describe(self) -> Mapping[str, str]:
        try:
            from zarr_native.libraries import origins  # loads the compiled module
        except ImportError as error:
            return {"compiled module": f"missing ({error})"}
        return origins()
