"""Whether the chunks of an array are processed by compiled code, decided once for each array.

``array`` is a StoredArray in all functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, is_ordinary_error
from zarr_core.messages import log, warn_once
from zarr_core.registry import discovery, overrides, resolve

if TYPE_CHECKING:
    import numpy as np

    from zarr_core.interfaces.native import NativePlan

    Array = np.ndarray[Any, Any]

# must_understand=False: a missing extension is not an error, except for the setting "require".
_DEFINITION = ExtensionDefinition("default", must_understand=False)


def native_reason_against(array: Any) -> str:
    """Why Python processes the chunks of an array; empty if compiled code does."""
    if config.settings.native == "off":
        return 'the setting native is "off"'
    try:
        plan = _plan_or_reason(array)
    except ExtensionError as error:
        return str(error)
    return plan if isinstance(plan, str) else ""


def native_plan(array: Any) -> NativePlan | None:
    """The plan of an array; None if Python processes its chunks, which can be an error."""
    is_required = config.settings.native == "require"
    is_available = "native" in discovery.scan() or array.extensions
    if not is_available and not is_required:  # as fast as possible
        return None
    try:
        plan = _plan_or_reason(array)
    except ExtensionError as error:
        if is_required:
            raise
        warn_once(f"{error}; chunks are processed in Python")
        return None
    if not isinstance(plan, str):
        return plan
    log("native", "%s: chunks are processed in Python: %s", array.location, plan)
    if is_required:
        raise ExtensionError(
            f'{array.location}: the setting native is "require", but the chunks of this array '
            f"cannot be processed by compiled code: {plan}. Set native to "
            '"auto" to process them in Python'
        )
    return None


def _plan_or_reason(array: Any) -> NativePlan | str:
    with overrides.override_extensions(array.extensions):
        provider = resolve.find_provider("native", _DEFINITION)
    if provider is None:
        return "zarr-native is not installed"
    try:
        plan: NativePlan | str = provider.load()().plan(array)
    except BaseException as error:
        # A mistake in an executor must not prevent an array from being read.
        if not is_ordinary_error(error):
            raise
        reason = f"the native executor of {provider} raised {type(error).__name__}: {error}"
        warn_once(f"{reason}; chunks are processed in Python")
        return reason
    return plan
