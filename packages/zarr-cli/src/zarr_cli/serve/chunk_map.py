"""Which chunks of an array are stored, how large they are, for the page to paint."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from zarr_cli.serve.answers import Answer, RefusedError, json_answer
from zarr_cli.serve.asked import array_asked, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import Store

_CELLS = 96  # along either side, however large the grid
_LOOKED_AT = 20_000  # stored objects, unless more are asked for
_MOST = 1_000_000


def chunk_map(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """The map of an array over two dimensions of its grid, added up over the others.

    Parameters
    ----------
    store, root
        What is served.
    asked : mapping
        ``path``; ``rows`` and ``columns``, the two dimensions, by default the last two;
        ``unit``: ``shard`` to leave out what is within shards; ``most`` stored objects to
        look at.
    """
    array = array_asked(store, root, asked)
    ndim = array.ndim
    sides = {
        name: number(asked, name, ndim - back, ndim - 1)
        for back, name in ((2, "rows"), (1, "columns"))
        if ndim >= back
    }
    inner = asked.get("unit", "chunk") == "chunk"
    most = number(asked, "most", _LOOKED_AT, _MOST)
    try:
        found = array.chunk_map([*sides.values()], inner=inner, cells=_CELLS, most=most)
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from error
    return json_answer({"rows": None, "columns": None, **sides, "most": most, **found.to_dict()})
