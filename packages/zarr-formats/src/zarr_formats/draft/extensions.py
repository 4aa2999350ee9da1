"""The ``extensions`` of a document, as further members of a version 3 document.

Specification: draft of December 2022, "Entry point metadata", ``extensions``.  The
name of such a member is the URI of the extension; its value has ``must_understand``
and what the configuration has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import MetadataValidationError, Problem, json_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON

is_uri = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.DOTALL).fullmatch
"""Whether a string has the form of a URI."""

_WHOLE = "configuration"  # where a configuration is kept that is no object


def read_extensions(extensions: Sequence[Any]) -> dict[str, JSON]:
    """Further members for a list of extensions that its schema accepted.

    Raises
    ------
    MetadataValidationError
        If one is there twice; ``where`` is empty.
    """
    members: dict[str, JSON] = {}
    problems = []
    for number, item in enumerate(extensions):
        uri = item["extension"]
        if uri in members:
            problems.append(Problem(f"/extensions/{number}", "is there already"))
        configuration = item.get("configuration", {})
        if not isinstance(configuration, dict) or "must_understand" in configuration:
            configuration = {_WHOLE: configuration}
        members[uri] = {**configuration, "must_understand": item["must_understand"]}
    if problems:
        raise MetadataValidationError("", problems)
    return members


def write_extensions(members: Mapping[str, JSON]) -> list[JSON]:
    """The list of extensions for further members.

    Raises
    ------
    MetadataValidationError
        If one has no URI for its name; ``where`` is empty.
    """
    written: list[JSON] = []
    problems = []
    for name, value in members.items():
        if not is_uri(name):
            message = "is a member that this format has not; its extensions are named by URIs"
            problems.append(Problem(json_pointer(name), message))
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
