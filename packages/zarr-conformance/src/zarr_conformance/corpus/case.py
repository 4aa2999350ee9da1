"""A test case: the contents of a store, an operation and the expected result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = Any

Operation: TypeAlias = Literal[
    "open",
    "validate",
    "read",
    "list",
    "update",
    "create",
    "write",
    "resize",
    "resolve",
    "erase",
    "store",
]
"""The operation that an implementation performs.

``open``
    Open the node and read its metadata only.
``validate``
    Validate the metadata document of the node and report the location of errors.
``read``
    Open the array and read its elements, or those of ``selection``.
``list``
    Open the group and list all nodes below it.
``update``
    Set the attribute ``harness`` to 1 and keep everything else.
``create``
    Create the node with the metadata ``document`` and write the elements, if any.
``write``
    Open the array and write ``elements`` to ``selection``.
``resize``
    Change the shape of the array to ``shape``.
``resolve``
    Open the array whose path a user writes as ``spelling``, and read its elements.
``erase``
    Delete the node and everything below it.
``store``
    Perform ``calls`` on the store.
"""

CATEGORIES = ("metadata", "extension", "chunk", "missing", "unsupported", "other")
"""Categories of errors: invalid metadata; an unknown extension; a corrupt chunk; a missing node;
an operation that the implementation declares as unsupported; any other error."""


@dataclass(frozen=True, slots=True)
class Values:
    """Elements to read or write.

    Parameters
    ----------
    data : bytes
        Data types of fixed size: in C order, little-endian, complex numbers as two floats,
        structs without padding, numbers of less than a byte with zero high bits.
        Data types of variable size: a JSON list in C order, bytes in base64.
    kind : {"raw", "json"}
        The format of the data: fixed or variable size.
    """

    data: bytes
    kind: Literal["raw", "json"] = "raw"


@dataclass(frozen=True, slots=True)
class Node:
    """The expected node; only the given members are compared.

    A case gives only the members that its clauses define.
    """

    node_type: Literal["array", "group"] | None = None
    shape: tuple[int, ...] | None = None
    attributes: Mapping[str, JSON] | None = None
    dimension_names: tuple[str | None, ...] | None = None
    values: Values | None = None
    members: Mapping[str, str] | None = None
    """All paths below a group with their node types."""
    results: tuple[JSON, ...] | None = None
    """The results of ``calls``: values in base64, None for a missing key, sorted keys."""
    documents: Mapping[str, JSON] | None = None
    """JSON documents in the store after the operation, by key; the stored documents may have more
    members and attributes."""
    stored: Mapping[str, bytes] | None = None
    """Exact values in the store after the operation, by key."""
    absent: tuple[str, ...] = ()
    """Keys that are missing from the store after the operation."""


@dataclass(frozen=True, slots=True)
class Accept:
    """The operation must succeed with this result."""

    node: Node = Node()


@dataclass(frozen=True, slots=True)
class Reject:
    """The operation must fail with an error, not with a crash.

    Parameters
    ----------
    category : str
        The expected category; another one is reported, but is not a failure.
    also : str
        An equally valid category.
    pointers : tuple of str
        For ``validate``: JSON pointers to the errors. The reported location must be one of
        them or below one of them.
    """

    category: str
    also: str = ""
    pointers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """The operation may fail; if it succeeds, this must be the result."""

    node: Node = Node()


Expectation: TypeAlias = Accept | Reject | Either


def refused_fill_value(value: JSON, category: str, also: str = "") -> Reject | Either:
    """Return the expected result for metadata of version 3 with an invalid fill value.

    No data type permits null, but zarrita.js writes it if no fill value is given, and readers
    may accept it.
    """
    return Either(Node("array")) if value is None else Reject(category, also)


@dataclass(frozen=True, slots=True)
class Case:
    """A test case.

    Parameters
    ----------
    id : str
        ``<specification>/<topic>/<name>``; ids are stable.
    clauses : tuple of str
        Ids of the tested clauses.
    summary : str
        A summary in one sentence.
    operation : str
        The operation.
    expect : Accept, Reject or Either
        The expected result.
    store : mapping of str to bytes
        The initial contents of the store.
    path : str
        The path of the node, without leading and trailing slashes.
    zarr_format : int
        1, 2, 3, or 0 for the draft; implementations without this format skip the case.
    needs : tuple of str
        Required extensions beyond the core specification, such as ``codec:zstd``;
        implementations without them skip the case.
    selection : tuple of (int, int, int), optional
        Start, stop and step along each dimension, for ``read`` and ``write``.
    document : JSON
        The metadata to create, for ``create``.
    calls : tuple of tuple, optional
        The calls for ``store``: each the name of an operation of the abstract store interface
        with its arguments; values in base64.
    elements : Values, optional
        The elements to write to the selection, for ``write``; the result has those of the array.
    shape : tuple of int, optional
        The new shape, for ``resize``.
    spelling : str
        The path as a user writes it, for ``resolve``: with slashes or backslashes anywhere.
    """

    id: str
    clauses: tuple[str, ...]
    summary: str
    operation: Operation
    expect: Expectation
    store: Mapping[str, bytes] = field(default_factory=dict)
    path: str = ""
    zarr_format: int = 3
    needs: tuple[str, ...] = ()
    selection: tuple[tuple[int, int, int], ...] | None = None
    document: JSON = None
    calls: tuple[tuple[JSON, ...], ...] = ()
    elements: Values | None = None
    shape: tuple[int, ...] | None = None
    spelling: str = ""
