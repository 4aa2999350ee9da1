"""Files of results that can be asked for: JSON, JUnit XML, HTML, a badge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_conformance.reporting.badge import badge
from zarr_conformance.reporting.html import html
from zarr_conformance.reporting.junit import junit
from zarr_conformance.reporting.results import (
    Judged,
    ResultsError,
    from_json,
    own_name,
    to_json,
)
from zarr_conformance.running.usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from zarr_conformance.corpus.case import Case


@dataclass(frozen=True, slots=True)
class Files:
    """Where each kind of file is to go; None for those that nobody wants."""

    KINDS: ClassVar[dict[str, str]] = {
        "json": "write the results as JSON",
        "junit": "write them as JUnit XML",
        "html": "write a report of one file",
        "badge": "write a badge (SVG); {name} stands for the implementation if there are several",
    }

    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None
    badge: Path | None = None

    @classmethod
    def asked(cls, asked: Any) -> Files:
        """Those that the command line names."""
        return cls(**{name: getattr(asked, name) for name in cls.KINDS})


def write_files(files: Files, runs: Sequence[Judged], corpus: Sequence[Case]) -> None:
    """Write what is wanted.

    Parameters
    ----------
    files : Files
        Where to.
    runs : sequence of Judged
        The results.
    corpus : sequence of Case
        All cases.

    Raises
    ------
    UsageError
        If one cannot be written.
    """
    by_id = {case.id: case for case in corpus}
    if files.json is not None:
        _write(files.json, json.dumps(to_json(runs, corpus)) + "\n")
    if files.junit is not None:
        _write(files.junit, junit(runs, by_id))
    if files.html is not None:
        _write(files.html, html(runs, corpus))
    if files.badge is not None:
        if len(runs) > 1 and "{name}" not in files.badge.name:
            raise UsageError("there are several implementations: give the badge's file a {name}")
        for run in runs:
            name = files.badge.name.replace("{name}", "".join(c if c.isalnum() or c in "-._" else "-" for c in run.name))  # fmt: skip
            _write(files.badge.with_name(name), badge(run, by_id))


def read_results(files: Iterable[Path], corpus: Sequence[Case]) -> list[Judged]:
    """Results out of several files, those of one name told apart.

    Raises
    ------
    UsageError
        If one of them has no results of this corpus.
    """
    found: list[Judged] = []
    for file in files:
        try:
            for run in from_json(json.loads(file.read_text("utf-8")), corpus):
                found.append(own_name(run, found))
        except (OSError, ValueError, RecursionError) as error:
            what = error if isinstance(error, OSError | ResultsError) else "no JSON"
            raise UsageError(f"{file}: {what}") from error
    return found


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
