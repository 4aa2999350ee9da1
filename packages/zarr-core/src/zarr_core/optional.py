"""Functions of optional distributions: advice about names, progress of long operations."""

from __future__ import annotations

from contextlib import suppress
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

from zarr_core.known_extensions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Self

F = TypeVar("F", bound="Callable[..., Any]")


class MissingAttributeError(AttributeError):
    """A module or object has no such attribute; the message, when it is shown, says what to use."""

    def __str__(self) -> str:
        message, *otherwise = map(str, self.args)
        advice = ""
        with suppress(ModuleNotFoundError):
            advice = optional_function("advice_on_attribute")(self.obj, self.name)
        return message + (advice or "".join(otherwise))


def check_names(arguments: Collection[str], known: Collection[str]) -> None:
    """Raise a TypeError if an argument is unknown; it names what was meant, or what to use instead."""
    unknown = sorted(name for name in arguments if name not in known)
    if unknown:
        try:
            advice = optional_function("advice_on_arguments")(unknown, known)
        except ModuleNotFoundError:
            from difflib import get_close_matches

            meant = [other for name in unknown for other in get_close_matches(name, known, n=1)]
            advice = f"; did you mean {', '.join(meant)}?" if meant else ""
        raise TypeError(f"unexpected keyword argument: {', '.join(unknown)}{advice}") from None


def with_advice(function: F) -> F:
    """A function whose errors about arguments name what was meant, or what it accepts."""

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next:  # not of this call
                raise
            names = ", ".join(known := signature(function).parameters)
            if "options" not in known:
                check_names(options, known)
            raise TypeError(f"{error}; pass arguments by name ({names})") from None

    return cast("F", checked)


def optional_function(name: str) -> Callable[..., Any]:
    """Return a function or method of ``zarr_core`` that another distribution provides.

    If the distribution is not installed, the function raises ModuleNotFoundError.
    """
    distribution, target = FUNCTIONS[name]
    module, _, attribute = target.partition(":")
    package = module.partition(".")[0]
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise

        def missing(*_: Any, **__: Any) -> Any:
            raise ModuleNotFoundError(
                f"{name} needs {distribution}, which is not installed: pip install {distribution}",
                name=package,
            )

        missing.__name__ = missing.__qualname__ = name
        missing.__doc__ = f"Raise ``ModuleNotFoundError``: {name} needs {distribution}."
        return missing
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


class Reporter:
    """Receives the progress of an operation; this class reports nothing."""

    def begin(self, path: str, total: int | None, unit: str) -> None:
        """Begin the next part, such as a node, with ``total`` units if that is known."""

    def advance(self, count: int, nbytes: int = 0) -> None:
        """Add completed units, and the bytes that were stored; callable from any thread."""

    def end(self) -> None:
        """Complete the part."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Complete the operation, also after an error."""


def reporter_for(progress: Any, parts: int) -> Reporter:
    """The reporter for the argument ``progress`` of an operation with some parts."""
    if progress is None or progress is False:
        return Reporter()
    reporter: Reporter = optional_function("progress=")(progress, parts)
    return reporter
