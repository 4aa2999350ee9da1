"""Documents that keep, to the letter, what was not changed since they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import MetadataValidationError, Problem, strictjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.extension import JSON, ArrayMetadata


@dataclass(frozen=True, slots=True)
class Part:
    """Members of a document, with the fields of the model that they come from.

    Parameters
    ----------
    fields : tuple of str
        Fields of :class:`~zarr_core.extension.ArrayMetadata`.
    members : tuple of str
        Members of the document that say them.
    write : callable
        Gives the members for metadata; those that it leaves out are not written.
        Raises MetadataValidationError if the format has no words for them.
    """

    fields: tuple[str, ...]
    members: tuple[str, ...]
    write: Callable[[ArrayMetadata], Mapping[str, JSON]]


def revise(
    raw: Mapping[str, JSON] | None,
    old: ArrayMetadata | None,
    new: ArrayMetadata,
    parts: Iterable[Part],
    where: str,
) -> dict[str, JSON]:
    """The document of metadata.

    Parameters
    ----------
    raw : mapping, optional
        The document that was read; None for a new one.
    old : ArrayMetadata, optional
        What ``raw`` means, None if there is none.
    new : ArrayMetadata
        What is to be said.
    parts : iterable of Part
        How each member is written.  Those whose fields are in ``new`` what they were
        in ``old`` stay as they are in ``raw``, as do members that no part names.
    where : str
        The document, for errors.

    Raises
    ------
    MetadataValidationError
        With every problem of every part.
    """
    written: dict[str, JSON] = {}
    gone: set[str] = set()
    problems: list[Problem] = []
    for part in parts:
        if old is not None and all(same(old, new, name) for name in part.fields):
            continue
        gone.update(part.members)
        try:
            written |= part.write(new)
        except MetadataValidationError as error:
            problems += error.problems
    if problems:
        raise MetadataValidationError(where, problems)
    kept = {
        name: written.pop(name) if name in written else value
        for name, value in (raw or {}).items()
        if name in written or name not in gone
    }
    return kept | written


def same(one: ArrayMetadata, other: ArrayMetadata, name: str) -> bool:
    """Whether a field is the same in two, where ``1``, ``1.0`` and ``true`` are not."""
    ours, theirs = getattr(one, name), getattr(other, name)
    if name in ("fill_value", "attributes"):
        return strictjson.identical(ours, theirs)
    return bool(ours == theirs)
