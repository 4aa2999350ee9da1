"""A store in a temporary directory."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from zarr_core.extension import Store, StoreError, WrapperStore
from zarr_core.stores.local import LocalStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.extension import Buffers

__all__ = ["TempStore"]


class TempStore(WrapperStore):
    """A store in a new directory, which is removed with the store.

    Parameters
    ----------
    suffix, prefix : str
        Suffix and prefix of the name of the directory.
    dir : str or os.PathLike, optional
        Parent directory; by default that of ``tempfile``.

    Notes
    -----
    The directory is removed by ``close``, at the end of a ``with`` statement, when the store
    is garbage collected (arrays and groups refer to it), or when the process exits.  Only the
    process that created the directory removes it; a killed process does not remove it.
    Only the user has access to it.

    Unpickling creates a :class:`LocalStore` of the same directory, which does not remove it.
    Keep the original store as long as another process uses the directory.

    Raises
    ------
    StoreError
        If the directory cannot be created.
    """

    inner: Store

    def __init__(
        self, suffix: str = "", prefix: str = "zarr", dir: str | os.PathLike[str] | None = None
    ) -> None:
        from tempfile import mkdtemp

        try:
            path = os.path.abspath(mkdtemp(suffix, prefix, dir))
        except OSError as error:
            reason = f"cannot create a temporary directory: {error.strerror}"
            raise StoreError(reason, error.filename) from error
        super().__init__(LocalStore(path))
        self.path = path
        """Absolute path of the directory."""
        self._process = os.getpid()
        self._remover = weakref.finalize(self, _remove, path, self._process)

    def close(self) -> None:
        """Remove the directory.  Later operations raise an error.

        Raises
        ------
        StoreError
            If the directory cannot be removed completely.
        """
        self._remover()
        if not isinstance(self.inner, _ClosedStore):
            self.inner = _ClosedStore(self.inner)
        if self._process == os.getpid() and os.path.lexists(self.path):
            raise StoreError("the temporary directory cannot be removed", self.path)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        # A second owner would remove the directory while the first still uses it.
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __reduce__(self) -> tuple[type[LocalStore], tuple[Any, ...]]:
        return LocalStore, (self.path,)


class _ClosedStore(WrapperStore):
    """Inner store of a closed ``TempStore``: raises an error instead of missing keys."""

    def get(self, key: str) -> NoReturn:
        raise StoreError("the temporary store is closed and its directory is removed", self, key)

    def set(self, key: str, value: Buffers) -> None:
        self.get(key)

    def erase(self, key: str) -> None:
        self.get(key)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self.get(prefix)

    generation = Store.generation


def _remove(path: str, process: int) -> None:
    if process != os.getpid() or os.path.islink(path):
        return
    with suppress(StoreError, OSError):
        # Not shutil.rmtree, which fails for deeply nested keys because of its recursion.
        LocalStore(path).erase_prefix("")
        os.rmdir(path)
