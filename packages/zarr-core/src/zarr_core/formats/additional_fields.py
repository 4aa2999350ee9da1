"""Additional fields of metadata, which extensions may define.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zarr_core.errors import UnsupportedFieldError
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.extension_names import names
from zarr_core.registry.hints import install_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

T = TypeVar("T")


def understanding(parse: Callable[[Collection[str]], T]) -> T:
    """Call ``parse`` with the names of known additional fields, and return its result.

    Extensions are looked up only if there are additional fields.

    Raises
    ------
    UnsupportedFieldError
        If an additional field must be understood and is unknown; says what to install.
    """
    try:
        return parse(())
    except UnsupportedFieldError as error:
        unknown = error
    try:
        if known := names("extension"):
            return parse(known)
    except UnsupportedFieldError as error:
        unknown = error
    raise UnsupportedFieldError(unknown.where, map(_with_hint, unknown.problems))


def _with_hint(problem: ValidationProblem) -> ValidationProblem:
    name = problem.pointer[1:].replace("~1", "/").replace("~0", "~")
    return ValidationProblem(
        problem.pointer, f"{problem.message}. {install_hint('extension', name)}"
    )
