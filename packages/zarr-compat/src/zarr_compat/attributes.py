"""Attributes as in zarr-python: changes of their values in place are stored with the next change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from zarr_core.extension import strictjson

if TYPE_CHECKING:
    import zarr_core

__all__ = ["Attributes", "LiveAttributes", "attributes_of"]


class LiveAttributes:
    """The attributes of a node as values that programs change, for which the core has copies."""

    def __init__(self, core: zarr_core.Array | zarr_core.Group) -> None:
        self._stored = core.metadata.attributes
        self._seen: dict[str, Any] = strictjson.plain_floats(self._stored)
        self._values: dict[str, Any] = strictjson.plain_floats(self._stored)

    @classmethod
    def of(cls, core: zarr_core.Array | zarr_core.Group) -> LiveAttributes:
        """Return those of a node; nodes of one consolidated metadata share them by path."""
        view = core.stored.consolidated
        return cls(core) if view is None else _consolidated(view).setdefault(core.path, cls(core))

    def values(self, core: zarr_core.Array | zarr_core.Group) -> dict[str, Any]:
        """Return the values, with what other writers changed since; always the same dictionary."""
        stored = core.metadata.attributes
        if stored is not self._stored:
            seen, values = strictjson.plain_floats(stored), self._values
            for name in [name for name in values if name in self._seen and name not in seen]:
                del values[name]
            for name, value in seen.items():
                unchanged = name in self._seen and strictjson.identical(self._seen[name], value)
                if not unchanged and not (name in values and _same(values[name], value)):
                    values[name] = strictjson.plain_floats(value)
            self._stored, self._seen = stored, seen
        return self._values

    def update(
        self, core: zarr_core.Array | zarr_core.Group, new: Mapping[str, Any], removed: str = ""
    ) -> None:
        """Store attributes, and what was changed in place, in one write if nothing is removed."""
        values = self.values(core)
        changed = {
            name: value
            for name, value in values.items()
            if name not in self._seen or not _same(value, self._seen[name])
        }
        gone = [name for name in self._seen if name == removed or name not in {**values, **new}]
        changed = {name: value for name, value in {**changed, **new}.items() if name not in gone}
        if changed:
            core.attrs.update(attributes_of(changed))
        values.update(new)
        for name in gone:
            if name in core.attrs:
                del core.attrs[name]
        self.values(core)

    def put(self, core: zarr_core.Array | zarr_core.Group, new: Mapping[str, Any]) -> None:
        """Replace all attributes in one write."""
        new = dict(new)
        core.attrs.put(attributes_of(new))
        self._values.clear()
        self._values.update(new)
        self.values(core)


_by_view: WeakKeyDictionary[Any, dict[str, LiveAttributes]] = WeakKeyDictionary()


def _consolidated(view: Any) -> dict[str, LiveAttributes]:
    """Return the attributes by path of the nodes of one consolidated metadata."""
    return _by_view.setdefault(view, {})


def _same(value: Any, stored: Any) -> bool:
    """Whether a value of a program has the JSON form that is stored."""
    try:
        return strictjson.identical(strictjson.plain(attributes_of(value)), stored)
    except ValueError:  # no JSON form; the write that follows explains it
        return False


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or group.

    Values are those of the node, not copies: a change in place is seen at once, and stored with the
    next change of attributes or of the shape.  NaN and infinities are stored as the tokens that
    zarr-python writes, which are not valid JSON; the core raises for them.
    """

    def __init__(self, node: Any) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._node.core.attrs, name)

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = self._node.live_attributes.values(self._node.core)
        return values

    def __getitem__(self, name: str) -> Any:
        return self._values()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        if name not in self._values():
            raise KeyError(name)
        self._node.live_attributes.update(self._node.core, {}, name)

    def __contains__(self, name: object) -> bool:
        return name in self._values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def update(  # type: ignore[override]  # one write, where the mixin makes one an item
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any
    ) -> None:
        """Set several attributes in one write, with what was changed in place."""
        self._node.live_attributes.update(self._node.core, dict(other, **more))

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all attributes in one write."""
        self._node.live_attributes.put(self._node.core, attributes)

    def clear(self) -> None:
        """Remove all attributes in one write."""
        self.put({})

    def asdict(self) -> dict[str, Any]:
        """The attributes as a dictionary; lists and dictionaries in it are those of the node."""
        return dict(self._values())

    def __repr__(self) -> str:
        return repr(self.asdict())

    def _repr_html_(self) -> str | None:
        html: str | None = self._node.core.attrs._repr_html_()
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node,)


def attributes_of(value: Any) -> Any:
    """Mark NaN and infinities in attributes, so that the core stores them."""
    return strictjson.keep_nonfinite(value)
