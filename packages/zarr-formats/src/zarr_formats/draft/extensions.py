"""Conversion of ``extensions`` to additional fields.

Specification: draft of December 2022, "Entry point metadata", ``extensions``.  The
name of the field is the URI of the extension; its value contains ``must_understand``
and the members of the configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import MetadataValidationError, ValidationProblem, json_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON

is_uri = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.DOTALL).fullmatch
"""Whether a string has the form of a URI."""

_WHOLE = "configuration"  # member for a configuration that is not an object


def read_extensions(extensions: Sequence[Any]) -> dict[str, JSON]:
    """Convert a validated list of extensions to additional fields."""
    members: dict[str, JSON] = {}
    problems = []
    for number, item in enumerate(extensions):
        uri = item["extension"]
        if uri in members:
            problems.append(ValidationProblem(f"/extensions/{number}", "is a duplicate"))
        configuration = item.get("configuration", {})
        if not isinstance(configuration, dict) or "must_understand" in configuration:
            configuration = {_WHOLE: configuration}
        members[uri] = {**configuration, "must_understand": item["must_understand"]}
    if problems:
        raise MetadataValidationError("", problems)
    return members


def write_extensions(members: Mapping[str, JSON]) -> list[JSON]:
    """Convert additional fields to a list of extensions."""
    written: list[JSON] = []
    problems = []
    for name, value in members.items():
        if not is_uri(name):
            message = "is not supported by this format: the names of its extensions are URIs"
            problems.append(ValidationProblem(json_pointer(name), message))
            continue
        members_of: dict[str, JSON] = value if isinstance(value, dict) else {_WHOLE: value}
        rest = {key: item for key, item in members_of.items() if key != "must_understand"}
        item: dict[str, JSON] = {
            "extension": name,
            "must_understand": members_of.get("must_understand", True) is not False,
        }
        if rest:
            item["configuration"] = rest[_WHOLE] if rest.keys() == {_WHOLE} else rest
        written.append(item)
    if problems:
        raise MetadataValidationError("", problems)
    return written
