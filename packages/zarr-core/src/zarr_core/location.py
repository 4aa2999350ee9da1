"""What an error or a warning is about: a store, a node or key in it, and a JSON pointer."""

from __future__ import annotations


class Location:
    """What an error or a warning is about.  The text is created only when it is shown.

    Parameters
    ----------
    store : object, optional
        The store, or a description such as ``"new array"``.  Without a store, a location is
        relative to the extension that is being created.
    path : str, optional
        Path of a node in the store, without leading slash.
    key : str, optional
        Key in the store.
    pointer : str, optional
        JSON pointer in the metadata document.

    Examples
    --------
    >>> str(Location("memory://1", "a/b").at("/codecs/0"))
    "memory://1 '/a/b' at /codecs/0"
    >>> str(Location("memory://1", "a/b").document("zarr.json"))
    "memory://1 'a/b/zarr.json'"
    """

    __slots__ = ("key", "path", "pointer", "store")

    def __init__(
        self,
        store: object = None,
        path: str | None = None,
        *,
        key: str | None = None,
        pointer: str = "",
    ) -> None:
        self.store = store
        self.path = path
        self.key = key
        self.pointer = pointer

    def at(self, pointer: str) -> Location:
        """The location of a JSON pointer that is relative to this location."""
        return Location(self.store, self.path, key=self.key, pointer=self.pointer + pointer)

    def document(self, name: str) -> Location:
        """The location of a metadata document of this node, such as ``zarr.json``."""
        if self.path is None:  # a description
            return Location(self, key=name)
        return Location(self.store, key=f"{self.path}/{name}" if self.path else name)

    def __str__(self) -> str:
        parts = [] if self.store is None else [str(self.store)]
        if self.path is not None:
            parts.append(repr(f"/{self.path}"))
        if self.key is not None:
            parts.append(repr(self.key))
        if self.pointer:
            parts.append(f"at {self.pointer}" if parts else self.pointer)
        return " ".join(parts)

    def __repr__(self) -> str:
        return f"<Location {self}>"


NO_LOCATION = Location()
"""No location; that of the extension that is being created, if there is one."""
