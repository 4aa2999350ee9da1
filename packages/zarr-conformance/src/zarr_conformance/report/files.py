"""Output files: JSON, JUnit XML and HTML."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_conformance.errors import UsageError
from zarr_conformance.report.html import html
from zarr_conformance.report.junit import junit
from zarr_conformance.report.results import (
    ImplementationResults,
    ResultsError,
    from_json,
    to_json,
    with_unique_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from zarr_conformance.corpus.case import Case


@dataclass(frozen=True, slots=True)
class Files:
    """The paths of the output files; None for files that are not written."""

    KINDS: ClassVar[dict[str, str]] = {
        "json": "write the results as JSON",
        "junit": "write the results as JUnit XML",
        "html": "write a self-contained HTML report",
    }

    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None

    @classmethod
    def from_arguments(cls, args: Any) -> Files:
        """Return the files of the command-line arguments."""
        return cls(**{name: getattr(args, name) for name in cls.KINDS})


def write_files(
    files: Files, runs: Sequence[ImplementationResults], corpus: Sequence[Case]
) -> None:
    """Write the output files.

    Parameters
    ----------
    files : Files
        The paths.
    runs : sequence of ImplementationResults
        The results.
    corpus : sequence of Case
        All cases.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    if files.json is not None:
        _write(files.json, json.dumps(to_json(runs, corpus)) + "\n")
    if files.junit is not None:
        _write(files.junit, junit(runs, {case.id: case for case in corpus}))
    if files.html is not None:
        _write(files.html, html(runs, corpus))


def read_results(files: Iterable[Path], corpus: Sequence[Case]) -> list[ImplementationResults]:
    """Read results from several files; equal names are made unique.

    Raises
    ------
    UsageError
        If a file does not contain results of this corpus.
    """
    results: list[ImplementationResults] = []
    for file in files:
        try:
            for run in from_json(json.loads(file.read_text("utf-8")), corpus):
                results.append(with_unique_name(run, results))
        except (OSError, ValueError, RecursionError) as error:
            reason = error if isinstance(error, OSError | ResultsError) else "not valid JSON"
            raise UsageError(f"{file}: {reason}") from error
    return results


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
