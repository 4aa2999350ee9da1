"""Functions of optional distributions, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_core.registry.known_extensions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable


def optional_function(name: str) -> Callable[..., Any]:
    """Return a function that another distribution provides.

    Parameters
    ----------
    name : str
        Name of the function in ``zarr_core``, or of the method that calls it.

    Returns
    -------
    callable
        The function; if the distribution is not installed, one that raises ModuleNotFoundError.

    Raises
    ------
    KeyError
        If no distribution of this project provides the function.
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
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found
