"""A store in a directory of its own that does not outlive it."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.extension import LocalStore, Store, StoreError

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.extension import Pieces

__all__ = ["TempStore"]


class TempStore(WrapperStore):
    """Keys and values in a new directory, removed with the store.

    Parameters
    ----------
    suffix, prefix : str
        What the name of the directory ends, begins with.
    dir : str or os.PathLike, optional
        Where it is made; by default where ``tempfile`` makes what is temporary.

    Notes
    -----
    The directory is removed by ``close``, at the end of a ``with`` statement, when
    nobody holds the store any more (an array or group holds it), or when the process
    ends; only by the process that made it.  A process that is killed leaves it.
    Nobody but the user has access to it.

    A pickled one is a :class:`LocalStore` of the same directory, which removes
    nothing: the first must be kept as long as another process needs what is in it.

    Raises
    ------
    StoreError
        If the directory cannot be made.
    """

    inner: Store

    def __init__(
        self, suffix: str = "", prefix: str = "zarr", dir: str | os.PathLike[str] | None = None
    ) -> None:
        from tempfile import mkdtemp  # noqa: PLC0415 - only who makes a store waits for it

        try:
            path = os.path.abspath(mkdtemp(suffix, prefix, dir))
        except OSError as error:
            reason = f"no temporary directory can be made: {error.strerror}"
            raise StoreError(reason, error.filename) from error
        super().__init__(LocalStore(path))
        self.path = path
        """Absolute path of the directory."""
        self._process = os.getpid()
        self._remover = weakref.finalize(self, _remove, path, self._process)

    def close(self) -> None:
        """Remove the directory; what is used afterwards raises.

        Raises
        ------
        StoreError
            If something in it cannot be removed.
        """
        self._remover()
        if not isinstance(self.inner, _Gone):
            self.inner = _Gone(self.inner)
        if self._process == os.getpid() and os.path.lexists(self.path):
            raise StoreError("the temporary directory cannot be removed", self.path)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        # A store is a place; a second owner would remove what the first still needs.
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __reduce__(self) -> tuple[type[LocalStore], tuple[Any, ...]]:
        return LocalStore, (self.path,)


class _Gone(Store):
    """What is behind a store that was closed; nothing may be taken for merely missing."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    @property
    def url(self) -> str:
        return self.inner.url

    def _refuse(self, key: str) -> NoReturn:
        raise StoreError("the temporary store was closed, its directory removed", self, key)

    def get(self, key: str) -> NoReturn:
        self._refuse(key)

    def set(self, key: str, value: Pieces) -> None:
        self._refuse(key)

    def erase(self, key: str) -> None:
        self._refuse(key)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self._refuse(prefix)

    def __eq__(self, other: object) -> bool:
        return self.inner == (other.inner if isinstance(other, _Gone) else other)

    def __hash__(self) -> int:
        return hash(self.inner)


def _remove(path: str, process: int) -> None:
    if process != os.getpid() or os.path.islink(path):
        return
    with suppress(StoreError, OSError):
        # Not shutil.rmtree, which recurses: keys may be deeper than that reaches.
        LocalStore(path).erase_prefix("")
        os.rmdir(path)
