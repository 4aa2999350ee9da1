"""Calls of the installed display extension; without one, text is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError
from zarr_core.registry import resolve
from zarr_core.registry.provider import is_fault
from zarr_core.user_warning import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from rich.console import RenderableType

    from zarr_core.interfaces.display import Display

    T = TypeVar("T")

NAME = "default"
"""The name of the extension that is used."""


def html(shown: Any) -> str | None:
    """HTML for a notebook; None, which notebooks accept, without a display extension.

    If the display extension fails, one warning is issued.
    """
    return _with_display(lambda display: display.html(shown))


def rich(shown: Any) -> RenderableType:
    """A representation for rich: text if there is no display extension, or if it fails."""
    found = _with_display(lambda display: display.rich(shown))
    if found is None:
        from rich.text import Text

        return Text(repr(shown))
    return found


def _with_display(use: Callable[[Display], T]) -> T | None:
    """The result of a function of the display extension; None if it is missing or fails."""
    # must_understand=False: only an extension that cannot be used raises, not a missing one.
    definition = ExtensionDefinition(NAME, must_understand=False)
    source = ""
    try:
        provider = resolve.find_provider("display", definition)
        if provider is None:
            return None
        source = f"the display extension of {provider}"
        return use(provider.load()())
    except BaseException as error:
        # Errors of a display extension must not prevent a node from being shown.
        if not is_fault(error):
            raise
        is_broken = isinstance(error, ExtensionError)
        message = str(error) if is_broken else f"{source} raised {type(error).__name__}: {error}"
        warn_once(f"{message}; text is shown instead", source or message)
    return None
