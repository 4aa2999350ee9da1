"""A node in a few words for people, or as a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.extension import ArrayMetadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_cli.walking import Member


_SHOWN = 4  # lengths along a dimension whose chunks differ


def shape_text(shape: Sequence[int], names: Sequence[str | None] | None = None) -> str:
    """Such as ``(1000, 800)``, or ``(y: 1000, x: 800)`` where dimensions have names."""
    parts = [
        f"{length}" if name is None else f"{name}: {length}"
        for name, length in zip(names or (None,) * len(shape), shape, strict=True)
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def data_type_text(member: Member) -> str:
    """The data type, with what tells it from others of its name."""
    if isinstance(member.node, Array):
        return member.node.info["Data type"]
    assert isinstance(member.metadata, ArrayMetadata), "only arrays have one"
    return member.metadata.data_type.name


def chunks_text(node: Array) -> str:
    """Such as ``chunks (100, 100)``, perhaps with the shards that hold them."""
    text = f"chunks {lengths_text(node.chunks)}"
    return f"{text}, shards {lengths_text(node.shards)}" if node.shards is not None else text


def lengths_text(chunks: Sequence[Any]) -> str:
    """Such as ``(100, 100)``; ``(10+20+30, 5+5)`` where the chunks along a dimension differ."""
    if not any(isinstance(item, tuple) for item in chunks):
        return shape_text(chunks)
    parts = [
        "+".join(map(str, item[:_SHOWN])) + ("+..." if len(item) > _SHOWN else "")
        for item in chunks
    ]
    return f"({', '.join(parts)})"


def codec_names(metadata: ArrayMetadata) -> list[str]:
    """Names of all codecs, those within shards in the place of the codec that makes shards."""
    names: list[str] = []
    for codec in metadata.codecs:
        inner = codec.configuration.get("codecs")
        if isinstance(inner, list):
            names += map(_name, inner)
        else:
            names.append(codec.name)
    return names


def _name(codec: Any) -> str:
    """The name of a codec within another: a definition, or a configuration of numcodecs."""
    return codec if isinstance(codec, str) else str(codec.get("name") or codec.get("id"))


def describe(member: Member, start: str = "/") -> dict[str, Any]:
    """What a node is, for programs.

    Parameters
    ----------
    member : Member
        The node.
    start : str
        The absolute path of the node where the walk began.
    """
    path = f"{start.rstrip('/')}/{member.path}".rstrip("/") or "/"
    document: dict[str, Any] = {"path": path, "type": kind(member)}
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


def kind(member: Member) -> str:
    """``array``, ``group``, or ``unknown`` for what has a document that cannot be read."""
    if member.metadata is None:
        return "unknown"
    return "array" if isinstance(member.metadata, ArrayMetadata) else "group"


def describe_whole(node: Array | Group) -> dict[str, Any]:
    """What a node is, with where it is stored, its attributes, its sizes.

    Parameters
    ----------
    node : Array or Group
        The node; nothing is read for it.
    """
    from zarr_cli.walking import Member  # noqa: PLC0415 - it needs what stands above

    document = describe(Member("", node, node.metadata), node.name)
    document["zarr_format"] = node.info["Zarr format"]
    document["store"] = str(node.store)
    if isinstance(node, Array):
        document["nbytes"] = node.nbytes
        document["unknown_extensions"] = [item.name for item in node.skipped_extensions]
    else:
        document["consolidated"] = node.metadata.consolidated is not None
    document["attributes"] = node.attrs.asdict()
    return document


def _list(values: Any) -> Any:
    return [_list(item) for item in values] if isinstance(values, tuple) else values
