"""Commands by which one case is tried again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def command_for(case: str, name: str, adapter: Sequence[str] = ()) -> str:
    """What runs one case.

    Parameters
    ----------
    case : str
        Its id.
    name : str
        Of the implementation.
    adapter : sequence of str
        The program, for an implementation that is not known by its name.
    """
    who = ["--command", shlex.join(adapter)] if adapter else ["--impl", name]
    return shlex.join(["zarr-conformance", "run", *who, "--only", case, "--verbose"])
