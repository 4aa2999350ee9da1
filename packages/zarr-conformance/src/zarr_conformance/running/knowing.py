"""Whether an implementation knows an extension: it does with it what has to work."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Case, Either

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zarr_conformance.judging.answer import Answer

_TRIED = 8  # cases of one extension; who refuses them all does not know it


class Knowledge:
    """What one implementation knows; each extension is tried once.

    Parameters
    ----------
    ask : callable
        Puts a case that reads, and gives the answer.
    capabilities : mapping
        What the implementation says that it can do.
    """

    def __init__(self, ask: Callable[[Case], Answer], capabilities: Mapping[str, Any]) -> None:
        self._ask = ask
        self._capabilities = capabilities
        self._known: dict[str, bool] = {}

    def __call__(self, extension: str) -> bool:
        """Whether it knows this one; taken for granted where no case can show it."""
        if extension not in self._known:
            offered = [
                case
                for case in _witnesses().get(extension, ())
                if case.operation in self._capabilities["operations"]
                and case.zarr_format in self._capabilities["formats"]
            ][:_TRIED]
            shown = (self._ask(case).outcome != "error" for case in offered)
            self._known[extension] = any(shown) if offered else True
        return self._known[extension]


@cache
def _witnesses() -> dict[str, list[Case]]:
    """Cases that work where the extension is known; those that have to work, read, and take little else first."""
    found: dict[str, list[Case]] = {}
    for case in all_cases():
        if isinstance(case.expect, Accept | Either) and case.operation in ("read", "open"):
            for extension in case.needs:
                found.setdefault(extension, []).append(case)

    def order(case: Case) -> tuple[bool, bool, int]:
        return isinstance(case.expect, Either), case.operation != "read", len(case.needs)

    return {name: sorted(cases, key=order) for name, cases in found.items()}
