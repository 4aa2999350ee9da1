"""One case: what is laid down in a store, what is asked, what the answer has to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = Any

Operation: TypeAlias = Literal[
    "open", "validate", "read", "list", "update", "create", "erase", "store"
]
"""What an implementation is asked to do.

``open``
    Open the node, looking at its documents only.
``validate``
    Say whether the document of the node is valid; if not, what is wrong with it, and where.
``read``
    Open the array, read its elements, or the part in ``selection``.
``list``
    Open the group, name all that is below it.
``update``
    Set the attribute ``harness`` to 1, keep everything else.
``create``
    Make the node that ``document`` describes, write the elements, if any.
``erase``
    Remove the node with everything below it.
``store``
    Do ``calls`` with the store itself.
"""

CATEGORIES = ("metadata", "extension", "chunk", "missing", "unsupported", "other")
"""Kinds of refusals: the document is wrong; it names what nobody here knows; a stored chunk is
damaged; there is no node; the implementation says that it does not do that; anything else."""


@dataclass(frozen=True, slots=True)
class Values:
    """Elements that are to be read or written.

    Parameters
    ----------
    data : bytes
        Fixed size: in C order, little-endian, complex numbers as two floats, structures
        without padding, numbers of less than a byte with zeros above.  Variable size: a JSON
        list in C order, bytes as base64.
    kind : {"raw", "json"}
        Which of the two.
    """

    data: bytes
    kind: Literal["raw", "json"] = "raw"


@dataclass(frozen=True, slots=True)
class Node:
    """What is known of a node; only what is given here is compared.

    So a case gives what its clauses are about, and nothing else.
    """

    node_type: Literal["array", "group"] | None = None
    shape: tuple[int, ...] | None = None
    attributes: Mapping[str, JSON] | None = None
    dimension_names: tuple[str | None, ...] | None = None
    values: Values | None = None
    members: Mapping[str, str] | None = None
    """Paths below a group, each with its node type; exactly these."""
    results: tuple[JSON, ...] | None = None
    """What the calls of ``store`` give: values as base64, None for a missing key, keys sorted."""
    documents: Mapping[str, JSON] | None = None
    """JSON documents that the store holds afterwards, by their keys: these members, these
    attributes, and more if the implementation likes."""
    stored: Mapping[str, bytes] | None = None
    """Values that the store holds afterwards, byte for byte, by their keys."""
    absent: tuple[str, ...] = ()
    """Keys that the store does not hold afterwards."""


@dataclass(frozen=True, slots=True)
class Accept:
    """It has to work, with this for an answer."""

    node: Node = Node()


@dataclass(frozen=True, slots=True)
class Reject:
    """It has to be refused, by an error that falls into this category.

    Any error is a refusal, a crash is not.  Another category is remarked, not held against
    anybody.  Where one may see it either way, ``also`` is as good.  So it is with ``pointers``,
    for ``validate``: JSON pointers of what is wrong, one of them or a place below it.
    """

    category: str
    also: str = ""
    pointers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """It may be refused; if not, this has to be the answer."""

    node: Node = Node()


Expectation: TypeAlias = Accept | Reject | Either


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Parameters
    ----------
    id : str
        ``<specification>/<topic>/<what>``, never changed once published.
    clauses : tuple of str
        Ids of the clauses that it shows.
    says : str
        What it shows, in one sentence.
    operation : str
        What is asked.
    expect : Accept, Reject or Either
        What the answer has to be.
    store : mapping of str to bytes
        What the store holds before, by keys.
    path : str
        The node, without a slash at either end.
    zarr_format : int
        2 or 3, or 0 for the draft: which implementations are asked at all.
    needs : tuple of str
        Extensions beyond the core specification that it takes, such as ``codec:zstd``; who
        does not have them is not at fault.
    selection : tuple of (int, int, int), optional
        Start, stop, step in each dimension: the part to read.
    document : JSON
        What to create, for ``create``.
    calls : tuple of tuple, optional
        What to do, for ``store``, each the name of an operation of the abstract store
        interface with its arguments; values as base64.
    """

    id: str
    clauses: tuple[str, ...]
    says: str
    operation: Operation
    expect: Expectation
    store: Mapping[str, bytes] = field(default_factory=dict)
    path: str = ""
    zarr_format: int = 3
    needs: tuple[str, ...] = ()
    selection: tuple[tuple[int, int, int], ...] | None = None
    document: JSON = None
    calls: tuple[tuple[JSON, ...], ...] = ()
