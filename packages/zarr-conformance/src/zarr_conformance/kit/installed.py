"""Whether an installed distribution offers an extension."""

from __future__ import annotations

import zarr_core as zarr


def check_installed(kind: str, name: str) -> None:
    """Fail unless an entry point provides a name without conflicts, and its code can be loaded.

    Parameters
    ----------
    kind, name : str
        Such as ``codec`` and ``acme.delta``.
    """
    lines = zarr.installed_extensions(kind=kind, names=[name])
    assert lines, (
        f'no entry point "{name}" in the group zarr_core.{kind}; install the distribution '
        "(again, if its entry points have changed)"
    )
    used = [line for line in lines if line.wins]
    assert used, f"conflict: {', '.join(map(str, lines))}"
    assert used[0].error is None, used[0].error
