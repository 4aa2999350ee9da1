"""Zarr version 3: one ``zarr.json`` at every node.

Specification: v3.1, "Stored representation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import MetadataValidationError, NodeNotFoundError
from zarr_core.formats.foreign import foreign_key
from zarr_core.formats.known import KnownDocuments
from zarr_core.formats.members import understanding
from zarr_core.interfaces.format import Format, M, store_new
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.node import node_from_json
from zarr_core.metadata.problem import Problem, json_pointer
from zarr_core.metadata.stored_text import parse_stored
from zarr_core.names import check_node_name, is_node_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.definition import JSON
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Pieces, Store
    from zarr_core.interfaces.value import ValueReader

# Families of names, or names, that stand for what version 3 does not have.
_ELSEWHERE = ("v2.", "n5.")
_NAMES_ELSEWHERE = ("n5", "v3_draft")
_INSTEAD = {"v2.object": "; text of any length is dtype=str here, bytes are dtype=bytes"}
_EXTENSION_POINTS = (
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "storage_transformers",
)

_known: KnownDocuments[bytes] = KnownDocuments()


class V3(Format):
    """The final version 3 (3.0 and 3.1)."""

    name: ClassVar[str] = "v3"
    zarr_format: ClassVar[int] = 3
    marks: ClassVar[tuple[str, ...]] = ("zarr.json",)
    document_names: ClassVar[tuple[str, ...]] = marks
    chunk_key_encoding: ClassVar[ExtensionDefinition] = ExtensionDefinition(
        "default", {"separator": "/"}
    )

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``zarr.json``; documents that were read before are not checked again."""
        key = metadata_key(path)
        data = store.get(key)
        if data is None:
            return None
        document = bytes(data)
        known = _known.get(document)
        if known is not None:
            return known
        where = f"{store} {key!r}"
        parsed = parse_stored(document, where)
        if is_draft(parsed):
            return None
        return _known.keep(document, len(document), self.from_json(parsed, where))

    def from_json(self, document: JSON, where: str) -> NodeMetadata:
        """Read a ``zarr.json``."""
        return understanding(lambda understood: node_from_json(document, where, understood))

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """The content of ``zarr.json``."""
        return metadata.to_json()

    def express(self, metadata: M, where: str) -> M:
        """Refuse what exists only in other versions."""
        if isinstance(metadata, ArrayMetadata) and (problems := _elsewhere(metadata)):
            raise MetadataValidationError(where, problems)
        return metadata

    def may_be_named(self, name: str) -> bool:
        """Some names are reserved, such as ``__...`` (v3.1, "Node names")."""
        return is_node_name(name)

    def check_path(self, path: str) -> None:
        """Names must be what v3.1, "Node names", permits."""
        for name in path.split("/") if path else ():
            check_node_name(name)

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write ``zarr.json``."""
        store.set(metadata_key(path), _bytes(metadata))

    def create(self, store: Store, path: str, metadata: NodeMetadata) -> bool:
        """Write ``zarr.json`` if there is none, under the lock of its key."""
        return store_new(store, metadata_key(path), lambda: _bytes(metadata))

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read and write ``zarr.json`` under the lock of its key."""
        key = metadata_key(path)
        where = f"{store} {key!r}"
        changed: NodeMetadata | None = None

        def change_document(reader: ValueReader | None) -> Pieces:
            nonlocal changed
            if reader is None:
                raise NodeNotFoundError(where, "the node has been removed")
            document = parse_stored(bytes(reader.read(0, reader.size)), where, quietly=True)
            changed = change(self.from_json(document, where))
            return _bytes(changed)

        store.update(key, change_document)
        assert changed is not None
        return changed

    def foreign_key(self, store: Store, path: str) -> str | None:
        """A key that is no document of version 2 or 3, and no chunk of an array."""
        return foreign_key(store, self.chunk_prefix(path))


def is_draft(document: JSON) -> bool:
    """Whether a ``zarr.json`` is the entry point of one of the drafts of 2021 and 2022."""
    version = document.get("zarr_format") if isinstance(document, dict) else None
    return isinstance(version, str) and "://" in version


def _bytes(metadata: NodeMetadata) -> bytes:
    return understanding(lambda understood: metadata.to_bytes(understood=understood))


def _elsewhere(metadata: ArrayMetadata) -> list[Problem]:
    """What metadata have that version 3 has no words for."""
    message = "{!r} exists in older versions only"
    document = metadata.to_json()
    problems = [
        Problem(pointer, message.format(name) + _INSTEAD.get(name, ""))
        for member in _EXTENSION_POINTS
        for pointer, name in extension_names(document.get(member), f"/{member}")
        if name.startswith(_ELSEWHERE) or name in _NAMES_ELSEWHERE
    ]
    if metadata.chunk_memory_layout is not None:
        name = metadata.chunk_memory_layout.name
        problems.append(Problem("/chunk_memory_layout", message.format(name)))
    return problems


def extension_names(value: JSON, pointer: str) -> Iterator[tuple[str, str]]:
    """Pointers and names of the extensions in a definition, or a list of them, at any depth."""
    if isinstance(value, dict):
        name = value.get("name")
        if isinstance(name, str):
            yield pointer, name
        for key, item in value.items():
            if key != "name":
                yield from extension_names(item, pointer + json_pointer(key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from extension_names(item, f"{pointer}/{number}")
    elif isinstance(value, str):
        yield pointer, value


def metadata_key(path: str) -> str:
    """The key of the metadata document of a node."""
    return f"{path}/zarr.json" if path else "zarr.json"
