"""Which extensions an implementation supports, determined by running cases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Case, Either

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zarr_conformance.evaluation.response import Response

_MAX_CASES = 8  # an extension is not supported if so many cases raise errors


class ExtensionSupport:
    """The extensions that an implementation supports; each is tested once.

    Parameters
    ----------
    run : callable
        Runs a case that only reads, and returns the response.
    capabilities : mapping
        The capabilities of the implementation.
    """

    def __init__(self, run: Callable[[Case], Response], capabilities: Mapping[str, Any]) -> None:
        self._run = run
        self._capabilities = capabilities
        self._supported: dict[str, bool] = {}

    def __call__(self, extension: str) -> bool:
        """Return whether an extension is supported; true if no case can determine it."""
        if extension not in self._supported:
            cases = [
                case
                for case in _cases_by_extension().get(extension, ())
                if case.operation in self._capabilities["operations"]
                and case.zarr_format in self._capabilities["formats"]
            ][:_MAX_CASES]
            succeeded = (self._run(case).outcome != "error" for case in cases)
            self._supported[extension] = any(succeeded) if cases else True
        return self._supported[extension]


@cache
def _cases_by_extension() -> dict[str, list[Case]]:
    """Return cases that succeed with each extension; simple cases that must succeed are first."""
    by_extension: dict[str, list[Case]] = {}
    for case in all_cases():
        if isinstance(case.expect, Accept | Either) and case.operation in ("read", "open"):
            for extension in case.needs:
                by_extension.setdefault(extension, []).append(case)

    def order(case: Case) -> tuple[bool, bool, int]:
        return isinstance(case.expect, Either), case.operation != "read", len(case.needs)

    return {name: sorted(cases, key=order) for name, cases in by_extension.items()}
