"""A store that counts and logs calls."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from zarr_compat.storage import WrapperStore

if TYPE_CHECKING:
    import logging
    from typing import Self

    from zarr_compat.store import Store

__all__ = ["LoggingStore"]


class LoggingStore(WrapperStore):
    """A store that wraps another, and counts and logs the calls of its methods.

    Parameters
    ----------
    store : Store
        The wrapped store.
    log_level : str
        Level of the logger.
    log_handler : logging.Handler, optional
        Handler of the logger; by default, messages are written to the standard error output.

    Attributes
    ----------
    counter : dict
        Number of calls by name of method.
    """

    def __init__(
        self,
        store: Store,
        log_level: str = "DEBUG",
        log_handler: logging.Handler | None = None,
    ) -> None:
        super().__init__(store)
        self.counter: defaultdict[str, int] = defaultdict(int)
        self.log_level = log_level
        self.log_handler = log_handler
        import logging  # on first use: few programs need it

        self.logger = logging.getLogger(f"LoggingStore({store})")
        self.logger.setLevel(log_level)
        if not self.logger.hasHandlers():
            self.logger.addHandler(log_handler or logging.StreamHandler())

    def log(self, method: str, hint: object = "") -> None:
        """Count and log one call of a method."""
        self.counter[method] += 1
        hint = f"({hint})" if hint else ""
        self.logger.info(" Calling %s.%s%s", type(self._store).__name__, method, hint)

    def _call_wrapped(self, name: str, *arguments: Any, **options: Any) -> Any:
        names = [item for item in (*arguments, *options.values()) if isinstance(item, str)]
        self.log(name, *names[:1])
        return super()._call_wrapped(name, *arguments, **options)

    def _with_store(self, store: Store) -> Self:
        return type(self)(store, self.log_level, self.log_handler)

    def __repr__(self) -> str:
        return f"LoggingStore({type(self._store).__name__}, {str(self._store)!r})"

    def __str__(self) -> str:
        return f"logging-{self._store}"
