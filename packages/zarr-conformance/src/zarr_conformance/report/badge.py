"""An SVG badge: how many cases pass, were judged, and exist."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from zarr_conformance.report.summary import summary
from zarr_conformance.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults

_COLOURS = ((100, "#2a7d3f"), (95, "#4c7a1e"), (80, "#8a6a00"), (0, "#b3382c"))
_NEUTRAL = "#5a6270"
_LEAST_COVERAGE = 50
"""The percentage of cases that must be judged for the colour to rate the implementation."""

# Widths of characters in a common sans-serif font of 11 pixels; others are as wide as "a".
_WIDE, _NARROW = frozenset("mwMWQGO%@"), frozenset("iljtfrI1.,:;' |!()[]-")


def badge(
    run: ImplementationResults, cases: Mapping[str, Case], label: str = "zarr conformance"
) -> str:
    """Return the badge as a self-contained SVG file.

    Parameters
    ----------
    run : ImplementationResults
        The results of one implementation.
    cases : mapping of str to Case
        By id.
    label : str
        The text on the left.
    """
    totals = summary(run, cases)
    state = f"{totals.passed} / {totals.judged} judged / {totals.cases}"
    colour = next(colour for least, colour in _COLOURS if totals.percent >= least)
    if totals.accepts_nothing:
        state += ", accepts no valid data"
        colour = _COLOURS[-1][1]
    elif totals.percent >= _COLOURS[-2][0] and totals.coverage < _LEAST_COVERAGE:
        colour = _NEUTRAL
    left, right = _width(label), _width(state)
    title = quoteattr(printable(f"{run.name} {run.version}: {label}, {state}"))
    texts = "".join(
        f'<text x="{x:g}" y="14" textLength="{width - 12:g}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(printable(text))}</text>"
        for text, x, width in ((label, left / 2, left), (state, left + right / 2, right))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="20" '
        f'role="img" aria-label={title}>'
        f'<clipPath id="c"><rect width="{left + right:g}" height="20" rx="4"/></clipPath>'
        f'<g clip-path="url(#c)"><rect width="{left:g}" height="20" fill="#3b4048"/>'
        f'<rect x="{left:g}" width="{right:g}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif"'
        f' font-size="11">{texts}</g></svg>\n'
    )


def _width(text: str) -> float:
    """Return the width of a text with margins, in pixels."""
    return 12 + sum(10.5 if item in _WIDE else 4.2 if item in _NARROW else 7.0 for item in text)
