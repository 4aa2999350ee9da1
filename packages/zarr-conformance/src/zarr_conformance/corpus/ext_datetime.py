"""The registered data types numpy.datetime64 and numpy.timedelta64."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.corpus.case_tables import table_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name in ("numpy.datetime64", "numpy.timedelta64"):
        yield from table_cases("ext_datetime", cells={"name": name})
