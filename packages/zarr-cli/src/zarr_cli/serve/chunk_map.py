"""The endpoint ``chunk-map``: which chunks of an array are stored and how large they are."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from zarr_display import chunk_map as maps

from zarr_cli.serve.query import query_int, requested_array
from zarr_cli.serve.responses import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from zarr_core.extension import Store

_CELLS = 96  # maximum per side, for any grid
_DEFAULT_MOST = 20_000  # default maximum of stored objects
_MOST = 1_000_000


def chunk_map(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Return the chunk map over two dimensions of the grid, summed over the others.

    The query has ``path``; ``rows`` and ``columns``, the two dimensions, by default the last two;
    ``unit``: ``shard`` to count shards instead of inner chunks; ``most``: the maximum number of
    stored objects to inspect.
    """
    array = requested_array(store, root, query)
    ndim = array.ndim
    sides = {
        name: query_int(query, name, ndim - back, ndim - 1)
        for back, name in ((2, "rows"), (1, "columns"))
        if ndim >= back
    }
    inner = query.get("unit", "chunk") == "chunk"
    most = query_int(query, "most", _DEFAULT_MOST, _MOST)
    try:
        drawn = maps.chunk_map(array, [*sides.values()], inner=inner, cells=_CELLS, most=most)
    except ValueError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
    return JsonResponse({"rows": None, "columns": None, **sides, "most": most, **drawn.to_dict()})
