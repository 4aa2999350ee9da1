"""Run cases with an adapter in this process, without its limits of time and memory."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.evaluation.evaluate import evaluate
from zarr_conformance.runner.protocol import (
    create_request,
    parse_response,
    write_store,
    written_values,
)
from zarr_conformance.runner.run import Outcome, unsupported_outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_conformance.corpus.case import Case


def capabilities_of(adapter: Any) -> dict[str, Any]:
    """Return the capabilities of an adapter."""
    return dict(adapter.respond({"id": 0, "operation": "capabilities"})["result"])


def run_case(
    case: Case,
    adapter: Any,
    capabilities: dict[str, Any],
    supports: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Run a case with an adapter.

    Parameters
    ----------
    case : Case
        The case.
    adapter : object
        Has a method ``respond`` like :class:`~zarr_conformance.adapters.adapter.Adapter`.
    capabilities : dict
        Its capabilities.
    supports : callable, optional
        As for :func:`~zarr_conformance.evaluation.evaluate.evaluate`.
    """
    if (excluded := unsupported_outcome(case, capabilities)) is not None:
        return excluded
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        store, into, values = (Path(folder) / item for item in ("store", "read", "values"))
        write_store(case, store)
        if (elements := written_values(case)) is not None:
            values.write_bytes(elements.data)
        request = create_request(case, store, into, values)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytest may turn warnings into errors
            reply = adapter.respond({"id": 1, "operation": case.operation, **request})
        response = parse_response(case, reply, store, into, time.perf_counter() - start)
    return Outcome(case, response, evaluate(case, response, supports))
