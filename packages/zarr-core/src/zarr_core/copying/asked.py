"""What a user asks of a copy of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.interfaces.carrier import Carrier
    from zarr_core.interfaces.progress import Progress
    from zarr_core.transfer.planning import IfExists
    from zarr_core.transfer.values import Compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The arguments of :func:`zarr_core.copy` but for the places, by the same names.

    Raises
    ------
    ValueError, TypeError
        If one means nothing, or two contradict each other.
    """

    overwrite: bool
    if_exists: IfExists
    shallow: bool
    without_attrs: bool
    only: Callable[[str], bool] | None
    compare: Compare
    dry_run: bool
    progress: Callable[[Progress], object] | bool | None
    log: Any
    carrier: Carrier | None
    layout: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        check_word("if_exists", self.if_exists, ("raise", "replace", "skip"))
        check_word("compare", self.compare, ("content", "size"))
        if self.overwrite and self.if_exists == "skip":
            raise ValueError('overwrite=True removes what if_exists="skip" keeps: give one of them')
        if self.carrier is not None and not hasattr(self.carrier, "elements"):
            raise TypeError(
                f"carrier is a Carrier, such as zarr_dask.Workers(...), not {self.carrier!r}"
            )

    @property
    def is_partial(self) -> bool:
        """Whether some nodes below the source may be left out."""
        return self.shallow or self.only is not None


def check_word(name: str, given: str, known: tuple[str, ...]) -> None:
    """Refuse an argument that is none of some words."""
    if given not in known:
        words = ", ".join(f'"{word}"' for word in known[:-1])
        raise ValueError(f'{name} must be {words} or "{known[-1]}", not {given!r}')
