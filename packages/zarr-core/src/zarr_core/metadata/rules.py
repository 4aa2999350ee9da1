"""Rules for metadata documents that JSON Schema cannot say.

Every function takes a document of any form, since these rules are reported
together with those of the schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.metadata.problem import Problem, json_pointer

if TYPE_CHECKING:
    from zarr_core.definition import JSON

ARRAY_MEMBERS = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "storage_transformers",
    "dimension_names",
    "attributes",
)
"""Members of an array document, in the order in which new documents have them."""

GROUP_MEMBERS = ("zarr_format", "node_type", "attributes", "consolidated_metadata")
"""Members of a group document, in the order in which new documents have them."""

MAX_RANK = 64
"""Dimensions that NumPy 2 can have."""

MAX_LENGTH = 2**63 - 1
"""The longest dimension that can be indexed."""


def array_problems(document: dict[str, JSON]) -> list[Problem]:
    """What is wrong with an array document apart from its schema and its unknown members."""
    problems: list[Problem] = []
    shape = document.get("shape")
    if not isinstance(shape, list):
        return problems  # the schema has said so
    if len(shape) > MAX_RANK:
        problems.append(
            Problem("/shape", f"has {len(shape)} dimensions; at most {MAX_RANK} can be handled")
        )
    problems.extend(
        Problem(
            f"/shape/{axis}", f"{length} is more than {MAX_LENGTH}, the longest that can be indexed"
        )
        for axis, length in enumerate(shape)
        if isinstance(length, int) and length > MAX_LENGTH
    )
    names = document.get("dimension_names")
    # v3.1, "dimension_names": "an array of strings or null objects with the same length as shape".
    if isinstance(names, list) and len(names) != len(shape):
        problems.append(
            Problem(
                "/dimension_names",
                f"must have a name or null for each of the {len(shape)} dimensions, "
                f"but has {len(names)}",
            )
        )
    return problems


def unknown_members(document: dict[str, JSON], known: tuple[str, ...]) -> list[Problem]:
    """Members that the specification does not define and that may not be ignored.

    Specification: v3.1, "Extension definition", ``must_understand``: fail "if any
    metadata fields are present which (a) the implementation does not recognize and
    (b) are not explicitly set to ``"must_understand": false``".
    """
    if document.keys() <= set(known):
        return []
    return [
        Problem(
            json_pointer(name),
            "is not a member that this library knows; it may be ignored only if it is an "
            'object with "must_understand": false',
        )
        for name, value in document.items()
        if name not in known
        and not (isinstance(value, dict) and value.get("must_understand") is False)
    ]
