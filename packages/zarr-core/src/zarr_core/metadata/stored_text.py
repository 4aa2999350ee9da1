"""The text of a stored ``zarr.json``, in which some writers have put what JSON is not."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import MetadataDecodeError

if TYPE_CHECKING:
    from zarr_core.definition import JSON

# Values of users, also in the copies that consolidated metadata are.
_OF_USERS = re.compile(r"(?:/consolidated_metadata/metadata/[^/]*)?/attributes/.*", re.DOTALL)
_SHOWN = 3  # places that the warning names


def parse_stored(
    data: bytes | bytearray | memoryview | str, where: str, *, quietly: bool = False
) -> JSON:
    """Parse a document of version 3.

    Parameters
    ----------
    data : bytes-like or str
        The document as it is stored.
    where : str
        Store and key, for errors.
    quietly : bool
        Without a warning, as what is read is about to be changed.

    Raises
    ------
    MetadataDecodeError
        If it is not a strict JSON document.

    Notes
    -----
    zarr-python writes ``NaN`` and ``Infinity`` in attributes as tokens, which version 3 does
    not allow, as its documents are JSON.  In attributes nobody can take them for anything
    else, so they are read there, with a warning; they are never written.
    """
    try:
        return strictjson.loads(data, where)
    except MetadataDecodeError as error:
        pointers = [problem.pointer for problem in error.problems]
        if not pointers or not all(map(_OF_USERS.fullmatch, pointers)):
            raise
        document = strictjson.loads(data, where, constants=True)
        if not quietly:
            more = f" with {len(pointers) - _SHOWN} more" if len(pointers) > _SHOWN else ""
            warnings.warn(
                f"{where} is no JSON, by NaN or Infinity at {', '.join(pointers[:_SHOWN])}{more}. They "
                "are read, and never written: to change the node, put something else there, such as "
                "the string 'NaN'",
                UserWarning,
                stacklevel=7,  # who called open, mostly
            )
        return document
