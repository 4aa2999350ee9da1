"""Validation of all metadata below a node."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import (
    ArrayMetadata,
    Location,
    StoreCapabilityError,
    ZarrError,
    json_pointer,
    read_metadata,
    strictjson,
)
from zarr_core.threads import concurrent_map
from zarr_formats.consolidate import difference

from zarr_cli.metadata_documents import format_of
from zarr_cli.validate.definitions import check_definitions
from zarr_cli.validate.problem import NodeProblem, problems_from_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Store
    from zarr_core.extension import JSON, Format, GroupMetadata
    from zarr_core.metadata.group import ConsolidatedMetadata

    Refused = MetadataError | ExtensionError
    Read = ArrayMetadata | GroupMetadata | Refused


@dataclass(slots=True)
class Validation:
    """The result of validating a hierarchy.

    Parameters
    ----------
    store, path : str
        The location of the hierarchy.
    zarr_format : str
        Its format.
    nodes : int
        The number of validated nodes.
    problems : list of NodeProblem
        The problems, node by node.
    """

    store: str
    path: str
    zarr_format: str
    nodes: int = 0
    problems: list[NodeProblem] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(problem.is_error for problem in self.problems)

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return len(self.problems) - self.errors

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "store": self.store,
            "path": self.path,
            "zarr_format": self.zarr_format,
            "nodes": self.nodes,
            "errors": self.errors,
            "warnings": self.warnings,
            "problems": [problem.to_json() for problem in self.problems],
        }


def validate(store: Store, path: str = "", zarr_format: int | str | None = None) -> Validation:
    """Validate the metadata of a node and of all nodes below it.

    The validation covers schemas, constraints between fields, every extension with its
    configuration, the codec chain, hooks, and whether consolidated metadata is up to date.
    No chunk is read.

    Parameters
    ----------
    store : Store
        The store of the hierarchy.
    path : str
        The path of the node to start at.
    zarr_format : int or str, optional
        Validate the metadata of this format.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # problems include the reasons of these warnings
        format_ = format_of(store, path, zarr_format)
        result = Validation(str(store), f"/{path}", format_.name)
        documents: dict[str, JSON] = {}
        groups: list[tuple[str, GroupMetadata]] = []
        damaged: set[str] = set()
        for at, read, problems in _walk(store, path, format_, result):
            result.nodes += 1
            result.problems += problems
            if isinstance(read, ZarrError):
                damaged.add(at)
                continue
            documents[at] = format_.to_json(read)
            if not isinstance(read, ArrayMetadata):
                groups.append((at, read))
        for at, group in groups:
            result.problems += _check_consolidated(at, group, documents, damaged)
    return result


def _walk(
    store: Store, path: str, format_: Format, result: Validation
) -> Iterator[tuple[str, Read, list[NodeProblem]]]:
    """Yield the path of each node, its metadata or the error of reading it, and its problems."""

    def read(at: str) -> tuple[Read, list[NodeProblem]] | None:
        try:
            metadata = format_.read(store, at)
        except (MetadataError, ExtensionError) as error:
            return error, _validate_damaged(store, at, format_, error)
        if metadata is None:
            return None
        notes = [note.partition(" ") for note in metadata.nonstandard]
        nonstandard = [
            NodeProblem(f"/{at}", pointer, message, severity="warning")
            for pointer, _, message in notes
        ]
        return metadata, nonstandard + _validate_node(store, at, format_, metadata)

    level = [path]
    copies: dict[str, ConsolidatedMetadata] = {}
    while level:
        below: list[str] = []
        for at, outcome in concurrent_map(level, read, store.max_concurrency):
            if outcome is None:
                continue
            node, problems = outcome
            yield at, node, problems
            if isinstance(node, ArrayMetadata):
                continue
            if not isinstance(node, ZarrError) and node.consolidated is not None:
                copies[at] = node.consolidated
            # There may be nodes below a damaged metadata document.
            below += _children(store, at, format_, copies, result)
        level = below


def _children(
    store: Store,
    path: str,
    format_: Format,
    copies: dict[str, ConsolidatedMetadata],
    result: Validation,
) -> list[str]:
    prefix = f"{path}/" if path else ""
    try:
        return [prefix + name for name in format_.child_names(store, path)]
    except (MetadataError, ExtensionError):
        return []  # the damaged document is reported itself
    except StoreCapabilityError:
        for above, metadata in copies.items():
            before = f"{above}/" if above else ""
            if prefix.startswith(before):
                known = (before + name for name in metadata.entries)
                return [child for child in known if child.rpartition("/")[0] == path]
        message = "the store cannot list its keys, so members of this group were not validated"
        result.problems.append(NodeProblem(f"/{path}", "", message, "store", "warning"))
        return []


def _validate_node(
    store: Store, path: str, format_: Format, metadata: ArrayMetadata | GroupMetadata
) -> list[NodeProblem]:
    """Return the problems of a node whose metadata can be read."""
    location = Location(store, path)
    problems: list[NodeProblem] = []
    if format_.name == "v3":
        try:  # values that are read with a warning are not valid
            strictjson.plain(strictjson.plain_floats(metadata.attributes), location, "/attributes")
        except MetadataError as error:
            problems += problems_from_error(error, f"/{path}")
    if isinstance(metadata, ArrayMetadata):
        problems += check_definitions(metadata.to_json(), location)
    if any(problem.is_error for problem in problems):
        return problems  # opening the node would raise the first of these errors
    try:
        zarr_core.open(store, "r", path=path, zarr_format=format_.name, use_consolidated=False)
    except ZarrError as error:
        problems += problems_from_error(error, f"/{path}")
    return problems


def _validate_damaged(
    store: Store, path: str, format_: Format, error: Refused
) -> list[NodeProblem]:
    """Return the problems of invalid metadata, including the extensions that it names."""
    problems = dict.fromkeys(problems_from_error(error, f"/{path}"))
    if format_.name == "v3":  # other formats do not name extensions in this form
        with suppress(MetadataError):
            document = strictjson.loads(read_metadata(store, format_.documents(path)[0]) or b"")
            problems |= dict.fromkeys(check_definitions(document, Location(store, path)))
    return [*problems]


def _check_consolidated(
    path: str, group: GroupMetadata, documents: dict[str, JSON], damaged: set[str]
) -> Iterator[NodeProblem]:
    """Yield the differences between consolidated metadata and stored metadata."""
    if group.consolidated is None:
        return
    prefix = f"{path}/" if path else ""
    stored = {
        at.removeprefix(prefix): document
        for at, document in documents.items()
        if at.startswith(prefix) and at != path
    }
    different = difference(group.consolidated.entries, stored)
    for names, message in (
        (different.stale, "consolidated metadata of this node differs from its stored metadata"),
        (different.missing, "this node is missing from consolidated metadata"),
        (different.extra, "consolidated metadata contains this node, which does not exist"),
    ):
        for name in names:
            if f"{prefix}{name}" not in damaged:
                yield NodeProblem(
                    f"/{path}",
                    "/consolidated_metadata/metadata" + json_pointer(name),
                    f"{message}; run zarr-core consolidate",
                    "consolidated",
                )
