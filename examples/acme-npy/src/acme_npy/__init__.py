"""Format ``acme-npy``: directories of ``.npy`` files, each a block of one array."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import (
    JSON,
    ArrayMetadata,
    ExtensionDefinition,
    Format,
    GroupMetadata,
    Location,
    MetadataValidationError,
    NodeNotFoundError,
    Schema,
    Store,
    ValidationProblem,
    create_extension,
    json_pointer,
    package_schema,
    store_new,
    strictjson,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Buffers, ByteReader

    Node = ArrayMetadata | GroupMetadata

_DOCUMENT = "blocks.json"
_BLOCK = re.compile(r"[0-9]+(\.[0-9]+)*\.npy", re.ASCII).fullmatch
_CODECS = (ExtensionDefinition("acme.npy"),)
# Found by name in zarr-grids, which is not imported.
_KEYS = ExtensionDefinition(
    "suffix",
    {
        "suffix": ".npy",
        "base_encoding": {"name": "v2", "configuration": {"separator": "."}},
    },
)


class Npy(Format):
    """Each node is a directory with ``blocks.json``; that of an array also contains the blocks."""

    name: ClassVar[str] = "acme-npy"
    zarr_format: ClassVar[int] = 3
    detection_keys: ClassVar[tuple[str, ...]] = (_DOCUMENT,)
    metadata_keys: ClassVar[tuple[str, ...]] = (_DOCUMENT,)
    chunk_key_encoding: ClassVar[ExtensionDefinition] = _KEYS
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = ()

    # --- metadata documents ---

    def from_json(self, document: JSON, location: Location) -> Node:
        problems = _schema().problems(document)
        if problems:
            raise MetadataValidationError(location, problems)
        found: Any = document
        attributes = found.get("attributes", {})
        if "shape" not in found:
            return GroupMetadata(attributes=attributes, document=found)
        if len(found["blocks"]) != len(found["shape"]):
            problem = ValidationProblem(
                "/blocks", f"must have {len(found['shape'])} items, as /shape has"
            )
            raise MetadataValidationError(location, [problem])
        return ArrayMetadata(
            shape=tuple(found["shape"]),
            data_type=ExtensionDefinition(found["dtype"]),
            chunk_grid=ExtensionDefinition("regular", {"chunk_shape": found["blocks"]}),
            chunk_key_encoding=_KEYS,
            codecs=_CODECS,
            fill_value=_fill_value(found, location),
            attributes=attributes,
            document=found,
        )

    def to_json(self, metadata: Node) -> JSON:
        old = metadata.document or {}
        members: dict[str, JSON] = {"attributes": metadata.attributes}
        problems = _unsupported(metadata)
        if problems:
            raise MetadataValidationError("node of the format acme-npy", problems)
        if isinstance(metadata, ArrayMetadata):
            members = {
                "shape": [*metadata.shape],
                "blocks": metadata.chunk_grid.configuration["chunk_shape"],
                "dtype": metadata.data_type.name,
                "fill_value": metadata.fill_value,
                **members,
            }
            if (
                old
                and "fill_value" not in old
                and metadata.fill_value == _fill_value(old, Location())
            ):
                del members["fill_value"]
        if old and "attributes" not in old and not metadata.attributes:
            del members["attributes"]
        return {**old, **members}

    def read(self, store: Store, path: str) -> Node | None:
        key = _key(path)
        value = store.get(key)
        return None if value is None else self._parsed(bytes(value), Location(store, key=key))

    def write(self, store: Store, path: str, metadata: Node) -> None:
        store.set(_key(path), strictjson.encode(self.to_json(metadata)))

    def create(self, store: Store, path: str, metadata: Node, *, known_empty: bool = False) -> bool:
        return store_new(store, _key(path), lambda: strictjson.encode(self.to_json(metadata)))

    def update(self, store: Store, path: str, change: Callable[[Node], Node]) -> Node:
        location = Location(store, key=_key(path))
        changed: list[Node] = []

        def change_document(reader: ByteReader | None) -> Buffers:
            if reader is None:
                raise NodeNotFoundError(location, "the node has been removed")
            old = self._parsed(bytes(reader.read(0, reader.size)), location)
            document = self.to_json(change(old))
            changed.append(self.from_json(document, location))
            return strictjson.encode(document)

        store.update(_key(path), change_document)
        return changed[-1]

    def _parsed(self, value: bytes, location: Location) -> Node:
        return self.from_json(strictjson.loads(value, location), location)

    # --- keys ---

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        keys = list(store.list_prefix(self.chunk_prefix(path)))
        nodes = {key.removesuffix(_DOCUMENT) for key in keys if f"/{key}".endswith(f"/{_DOCUMENT}")}
        for key in keys:
            folder, slash, name = key.rpartition("/")
            if folder + slash not in nodes or not (name == _DOCUMENT or _BLOCK(name)):
                return key
        return None


def _key(path: str) -> str:
    return f"{path}/{_DOCUMENT}" if path else _DOCUMENT


def _schema() -> Schema:
    return package_schema("acme_npy", "format", "acme-npy")


def _fill_value(document: Any, location: Location) -> JSON:
    data_type = create_extension("data_type", ExtensionDefinition(document["dtype"]))
    assert data_type is not None, "data types are never ignored"
    zero: JSON = data_type.fill_value_to_json(data_type.default_fill_value())
    value: JSON = document.get("fill_value", zero)
    try:
        data_type.fill_value_from_json(value)
    except ValueError as error:
        raise MetadataValidationError(
            location, [ValidationProblem("/fill_value", str(error))]
        ) from error
    return value


def _unsupported(metadata: Node) -> list[ValidationProblem]:
    """Return the members of version 3 that the format does not support."""
    found: dict[str, Any] = {json_pointer(name): True for name in metadata.additional_fields}
    if isinstance(metadata, GroupMetadata):
        found["/consolidated_metadata"] = metadata.consolidated is not None
    else:
        keys, codecs = metadata.chunk_key_encoding, metadata.codecs
        found |= {
            "/data_type": _schema().problems(
                {"dtype": metadata.data_type.name, "shape": [], "blocks": []}
            ),
            "/chunk_grid": metadata.chunk_grid.name != "regular",
            "/chunk_key_encoding": (keys.name, keys.configuration)
            != (_KEYS.name, _KEYS.configuration),
            # New arrays have the codec "bytes"; the elements are the same.
            "/codecs": [codec.name for codec in codecs] not in (["acme.npy"], ["bytes"]),
            "/storage_transformers": metadata.storage_transformers,
            "/dimension_names": metadata.dimension_names is not None,
            "/chunk_memory_layout": metadata.chunk_memory_layout is not None,
        }
    return [
        ValidationProblem(pointer, "is not supported by the format acme-npy")
        for pointer in found
        if found[pointer]
    ]
