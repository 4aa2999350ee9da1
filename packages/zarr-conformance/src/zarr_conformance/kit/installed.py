"""Whether an installed distribution offers an extension."""

from __future__ import annotations

import zarr_core as zarr


def check_installed(kind: str, name: str) -> None:
    """Fail unless an entry point offers a name, with nobody else in its way.

    Parameters
    ----------
    kind, name : str
        Such as ``codec`` and ``acme.delta``.
    """
    lines = zarr.installed_extensions(load=False, kind=kind, names=[name])
    assert lines, (
        f'no entry point "{name}" in the group zarr_core.{kind}; install the distribution '
        "(again, if its entry points have changed)"
    )
    assert any(line.wins for line in lines), f"conflict: {', '.join(map(str, lines))}"
