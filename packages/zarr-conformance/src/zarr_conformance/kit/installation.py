"""Whether an installed distribution offers an extension."""

from __future__ import annotations

import zarr_core as zarr


def check_installed(extension_point: str, name: str) -> None:
    """Fail unless an entry point provides a name without conflicts, and its code can be loaded.

    Parameters
    ----------
    extension_point, name : str
        Such as ``codec`` and ``acme.delta``.
    """
    lines = zarr.installed_extensions(extension_point=extension_point, names=[name])
    assert lines, (
        f'no entry point "{name}" in the group zarr_core.{extension_point}; install the distribution '
        "(again, if its entry points have changed)"
    )
    used = [line for line in lines if line.wins]
    assert used, f"conflict: {', '.join(map(str, lines))}"
    assert used[0].error is None, used[0].error
