"""Cases of the corpus for registered extensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.runner.extension_support import ExtensionSupport
from zarr_conformance.runner.in_process import capabilities_of, run_case

if TYPE_CHECKING:
    from zarr_conformance.corpus.case import Case


def cases_of(extension_point: str, name: str) -> list[Case]:
    """Cases that take an extension, or show what the core specification says of it.

    Parameters
    ----------
    extension_point, name : str
        Such as ``codec`` and ``zstd``.
    """
    clause = f"v3-codecs.{name}." if extension_point == "codec" else f"v3-data-types.{name}"
    return [
        case
        for case in all_cases()
        if f"{extension_point}:{name}" in case.needs
        or any(item.startswith(clause) for item in case.clauses)
    ]


def broken_cases(extension_point: str, name: str) -> dict[str, str]:
    """Return the ids of failing cases with the reasons.

    Cases that require other extensions, which are not installed, are not counted.
    """
    adapter = ZarrCore()
    can = capabilities_of(adapter)
    others = ExtensionSupport(lambda case: run_case(case, adapter, can).response, can)
    broken = {}
    for case in cases_of(extension_point, name):
        if all(others(need) for need in case.needs if need != f"{extension_point}:{name}"):
            verdict = run_case(case, adapter, can).verdict
            if verdict.grade != "pass":
                broken[case.id] = verdict.reason
    return broken
