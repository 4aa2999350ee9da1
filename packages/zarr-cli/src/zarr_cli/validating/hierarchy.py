"""All documents below a node, judged one after the other."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionError,
    MetadataError,
    StoreCapabilityError,
    ZarrError,
    in_flight,
    json_pointer,
    strictjson,
)

from zarr_cli.documents import format_of
from zarr_cli.validating.definitions import check_definitions
from zarr_cli.validating.finding import Finding, findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Store
    from zarr_core.extension import JSON, ConsolidatedMetadata, Format, GroupMetadata

    Refused = MetadataError | ExtensionError
    Read = ArrayMetadata | GroupMetadata | Refused


@dataclass(slots=True)
class Validation:
    """What was found in a hierarchy.

    Parameters
    ----------
    store, path : str
        Where it is.
    zarr_format : str
        Which format it has.
    nodes : int
        How many nodes were looked at.
    findings : list of Finding
        What is wrong, node by node.
    """

    store: str
    path: str
    zarr_format: str
    nodes: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors

    def to_json(self) -> dict[str, Any]:
        """The result as a document."""
        return {
            "store": self.store,
            "path": self.path,
            "zarr_format": self.zarr_format,
            "nodes": self.nodes,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [finding.to_json() for finding in self.findings],
        }


def validate(store: Store, path: str = "", zarr_format: int | str | None = None) -> Validation:
    """Judge the documents of a node and of all nodes below it.

    Schemas, rules between members, every extension with its configuration, the chain of
    codecs, hooks that object; whether consolidated metadata are up to date.  No chunk is read.

    Parameters
    ----------
    store : Store
        Where the hierarchy is.
    path : str
        Of the node where to begin.
    zarr_format : int or str, optional
        Judge the documents of this format.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the library warns of is among the findings
        format_ = format_of(store, path, zarr_format)
        result = Validation(str(store), f"/{path}", format_.name)
        documents: dict[str, JSON] = {}
        groups: list[tuple[str, GroupMetadata]] = []
        damaged: set[str] = set()
        for at, read, findings in _walk(store, path, format_, result):
            result.nodes += 1
            result.findings += findings
            if isinstance(read, ZarrError):
                damaged.add(at)
                continue
            documents[at] = format_.to_json(read)
            if not isinstance(read, ArrayMetadata):
                groups.append((at, read))
        for at, group in groups:
            result.findings += _judge_copies(at, group, documents, damaged)
    return result


def _walk(
    store: Store, path: str, format_: Format, result: Validation
) -> Iterator[tuple[str, Read, list[Finding]]]:
    """Paths of all nodes, what their documents say or why they say nothing, what is wrong."""

    def read(at: str) -> tuple[Read, list[Finding]] | None:
        try:
            found = format_.read(store, at)
        except (MetadataError, ExtensionError) as error:
            return error, _judge_damaged(store, at, format_, error)
        return None if found is None else (found, _judge(store, at, format_, found))

    level = [path]
    copies: dict[str, ConsolidatedMetadata] = {}
    while level:
        below: list[str] = []
        for at, judged in in_flight(level, read, store.requests):
            if judged is None:
                continue
            found, findings = judged
            yield at, found, findings
            if isinstance(found, ArrayMetadata):
                continue
            if not isinstance(found, ZarrError) and found.consolidated is not None:
                copies[at] = found.consolidated
            # Below a document that cannot be read there may be nodes all the same.
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
        return []  # where they are is told by the document that is refused
    except StoreCapabilityError:
        for above, metadata in copies.items():
            before = f"{above}/" if above else ""
            if prefix.startswith(before):
                known = (before + name for name in metadata.paths())
                return [child for child in known if child.rpartition("/")[0] == path]
        message = "the store cannot list its keys: members of this group were not looked at"
        result.findings.append(Finding(f"/{path}", "", message, "store", "warning"))
        return []


def _judge(
    store: Store, path: str, format_: Format, metadata: ArrayMetadata | GroupMetadata
) -> list[Finding]:
    """What is wrong with a node whose document could be read."""
    where = f"{store} {'/' + path!r}"
    found: list[Finding] = []
    if format_.name == "v3":
        try:  # what is read with a warning is not valid
            strictjson.plain(metadata.attributes, where, "/attributes")
        except MetadataError as error:
            found += findings_of(error, f"/{path}")
    if isinstance(metadata, ArrayMetadata):
        found += check_definitions(metadata.to_json(), f"/{path}", where)
    if any(finding.severity == "error" for finding in found):
        return found  # opening would raise the first of these
    try:
        zarr_core.open(store, "r", path=path, zarr_format=format_.name, use_consolidated=False)
    except ZarrError as error:
        found += findings_of(error, f"/{path}")
    return found


def _judge_damaged(store: Store, path: str, format_: Format, error: Refused) -> list[Finding]:
    """What is wrong with a document that is refused, the extensions that it names included."""
    found = dict.fromkeys(findings_of(error, f"/{path}"))
    if format_.name == "v3":  # in the words of which extensions are named
        with suppress(MetadataError):
            document = strictjson.loads(store.get(format_.documents(path)[0]) or b"")
            where = f"{store} {'/' + path!r}"
            found |= dict.fromkeys(check_definitions(document, f"/{path}", where))
    return [*found]


def _judge_copies(
    path: str, group: GroupMetadata, documents: dict[str, JSON], damaged: set[str]
) -> Iterator[Finding]:
    """How the consolidated metadata of a group differ from what is stored."""
    if group.consolidated is None:
        return
    prefix = f"{path}/" if path else ""
    stored = {
        at.removeprefix(prefix): document
        for at, document in documents.items()
        if at.startswith(prefix) and at != path
    }
    difference = group.consolidated.compare(stored)
    for names, message in (
        (difference.stale, "the copy is not what is stored"),
        (difference.missing, "there is no copy of this node"),
        (difference.extra, "there is a copy, but no such node"),
    ):
        for name in names:
            if f"{prefix}{name}" not in damaged:
                yield Finding(
                    f"/{path}",
                    "/consolidated_metadata/metadata" + json_pointer(name),
                    f"{message}; consolidate anew",
                    "consolidated",
                )
