"""The documents of one node of version 2, which stand beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import in_flight

if TYPE_CHECKING:
    from zarr_core.extension import Store


class Beside:
    """Documents below one prefix, each asked for once.

    Parameters
    ----------
    store : Store
        Where they are.
    prefix : str
        What stands before their names; empty or ending in ``/``.
    """

    __slots__ = ("_found", "prefix", "store")

    def __init__(self, store: Store, prefix: str) -> None:
        self.store = store
        self.prefix = prefix
        self._found: dict[str, bytes | None] = {}

    def get(self, name: str, *likely: str) -> bytes | None:
        """A document, or None if it is not there.

        Parameters
        ----------
        name : str
            Its name.
        *likely : str
            Others that will be wanted next, as far as is known.  A store with latency is
            asked for all of them at the same time, so that they cost no more waiting.
        """
        if name not in self._found:
            names = (name,) if self.store.requests is None else (name, *likely)
            missing = [one for one in names if one not in self._found]
            self._found.update(in_flight(missing, self._stored, self.store.requests))
        return self._found[name]

    def _stored(self, name: str) -> bytes | None:
        value = self.store.get(self.prefix + name)
        return None if value is None else bytes(value)
