"""Attributes, written as zarr-python writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from zarr_core.tools import strictjson

if TYPE_CHECKING:
    import zarr_core

__all__ = ["Attributes", "attributes_of"]


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or group of the core.

    NaN and infinities are stored as the tokens that zarr-python writes, which are not valid
    JSON; the core raises for them.

    Parameters
    ----------
    core : zarr_core.Array or zarr_core.Group
        The node.
    """

    def __init__(self, core: zarr_core.Array | zarr_core.Group) -> None:
        self._core = core

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._core.attrs, name)

    def __getitem__(self, name: str) -> Any:
        return self._core.attrs[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        del self._core.attrs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._core.attrs

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.attrs)

    def __len__(self) -> int:
        return len(self._core.attrs)

    def update(  # type: ignore[override]  # one write, where the mixin makes one an item
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any
    ) -> None:
        """Set several attributes in one write."""
        self._core.attrs.update(attributes_of(dict(other, **more)))

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all attributes in one write."""
        self._core.attrs.put(attributes_of(attributes))

    def clear(self) -> None:
        """Remove all attributes in one write."""
        self._core.attrs.clear()

    def asdict(self) -> dict[str, Any]:
        """A copy as a plain dictionary."""
        return self._core.attrs.asdict()

    def __repr__(self) -> str:
        return repr(self._core.attrs)

    def _repr_html_(self) -> str | None:
        html: str | None = self._core.attrs._repr_html_()
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._core,)


def attributes_of(given: Any) -> Any:
    """Mark NaN and infinities in attributes, so that the core stores them."""
    return strictjson.keep_nonfinite(given)
