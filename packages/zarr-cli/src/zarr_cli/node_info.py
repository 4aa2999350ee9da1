"""Properties of a node as short texts, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.extension import ArrayMetadata
from zarr_display.info import data_type_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_cli.walk import Member

_SHOWN = 4  # lengths that are shown for a dimension with differing chunks


def shape_text(shape: Sequence[int], names: Sequence[str | None] | None = None) -> str:
    """Return a text such as ``(1000, 800)``, or ``(y: 1000, x: 800)`` with dimension names."""
    parts = [
        f"{length}" if name is None else f"{name}: {length}"
        for name, length in zip(names or (None,) * len(shape), shape, strict=True)
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def member_data_type(member: Member) -> str:
    """Return the data type with its parameters."""
    if isinstance(member.node, Array):
        return data_type_text(member.node.stored)
    assert isinstance(member.metadata, ArrayMetadata), "only arrays have a data type"
    return member.metadata.data_type.name


def chunks_text(node: Array) -> str:
    """Return a text such as ``chunks (100, 100)``, with the shards if there are any."""
    text = f"chunks {lengths_text(node.chunks)}"
    return f"{text}, shards {lengths_text(node.shards)}" if node.shards is not None else text


def lengths_text(chunks: Sequence[Any]) -> str:
    """Return a text such as ``(100, 100)``, or ``(10+20+30, 5+5)`` for differing chunks."""
    if not any(isinstance(item, tuple) for item in chunks):
        return shape_text(chunks)
    parts = [
        "+".join(map(str, item[:_SHOWN])) + ("+..." if len(item) > _SHOWN else "")
        for item in chunks
    ]
    return f"({', '.join(parts)})"


def codec_names(metadata: ArrayMetadata) -> list[str]:
    """Return the names of all codecs; inner codecs replace the sharding codec."""
    names: list[str] = []
    for codec in metadata.codecs:
        inner = codec.configuration.get("codecs")
        if isinstance(inner, list):
            names += map(_name, inner)
        else:
            names.append(codec.name)
    return names


def _name(codec: Any) -> str:
    """Return the name of an inner codec: a definition, or a configuration of numcodecs."""
    return codec if isinstance(codec, str) else str(codec.get("name") or codec.get("id"))


def node_json(member: Member, start: str = "/") -> dict[str, Any]:
    """Return the properties of a node as JSON."""
    path = f"{start.rstrip('/')}/{member.path}".rstrip("/") or "/"
    document: dict[str, Any] = {"path": path, "type": node_type(member)}
    if isinstance(member.metadata, ArrayMetadata):
        metadata = member.metadata
        document |= {
            "shape": list(metadata.shape),
            "dimension_names": _list(metadata.dimension_names),
            "data_type": metadata.data_type.to_json(),
        }
        if isinstance(member.node, Array):
            document |= {
                "chunks": _list(member.node.chunks),
                "shards": _list(member.node.shards),
            }
        document["codecs"] = [codec.to_json() for codec in metadata.codecs]
        document["fill_value"] = metadata.fill_value
    if member.problem:
        document["problem"] = member.problem
    return document


def node_type(member: Member) -> str:
    """Return ``array``, ``group``, or ``unknown`` if the metadata cannot be read."""
    if member.metadata is None:
        return "unknown"
    return "array" if isinstance(member.metadata, ArrayMetadata) else "group"


def full_node_json(node: Array | Group) -> dict[str, Any]:
    """Return the properties of a node as JSON, with its store, attributes and sizes."""
    from zarr_cli.walk import Member  # circular import

    document = node_json(Member("", node, node.metadata), node.name)
    number = node.stored.format.name.removeprefix("v")
    document |= {"zarr_format": number, "store": str(node.store)}
    if isinstance(node, Array):
        document["nbytes"] = node.nbytes
        document["unknown_extensions"] = [item.name for item in node.ignored_extensions]
    else:
        document["consolidated"] = node.metadata.consolidated is not None
    document["attributes"] = node.attrs.asdict()
    return document


def _list(values: Any) -> Any:
    return [_list(item) for item in values] if isinstance(values, tuple) else values
