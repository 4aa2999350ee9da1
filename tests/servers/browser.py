"""The web browser for tests of pages."""

from __future__ import annotations

from servers import places
from servers.requirement import unavailable

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def need_browser() -> str:
    """Return the path of the browser; skip or fail the test if it is not installed."""
    program = places.system(*PROGRAMS)
    if program is None:
        unavailable(places.how_to_get("Chromium", "apt-get install chromium"))
    return str(program)
