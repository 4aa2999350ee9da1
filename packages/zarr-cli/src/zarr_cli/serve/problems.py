"""What is wrong with a node, each problem with its JSON pointer."""

from __future__ import annotations

from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from zarr_core import Group
from zarr_core.extension import ZarrError

from zarr_cli.serve.answers import Answer, json_answer
from zarr_cli.serve.asked import number, open_node, path_of
from zarr_cli.validating.finding import findings_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zarr_core import Array
    from zarr_core.extension import Store

_MOST_SECONDS = 30
_MOST_LISTED = 500
_MOST_WAITING = 100_000  # nodes that were found and not opened yet


def problems_of(error: ZarrError) -> list[dict[str, str]]:
    """The problems that an error tells of, each with its place in the document."""
    return [
        {"pointer": finding.pointer, "message": finding.message}
        for finding in findings_of(error, "")
    ]


def remarks_on(node: Array | Group) -> list[dict[str, str]]:
    """What is not wrong, yet worth knowing: extensions that nobody here knows."""
    if isinstance(node, Group):
        return []
    return [
        {
            "pointer": "",
            "message": f"nobody here knows {definition.name!r}, which was left out as the "
            "document permits; install what provides it",
        }
        for definition in node.skipped_extensions
    ]


def problems_below(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """Open every node from one downwards, for some ``seconds``; list those that fail."""
    deadline = monotonic() + number(asked, "seconds", 5, _MOST_SECONDS)
    waiting = [path_of(root, asked)]
    damaged: list[dict[str, Any]] = []
    looked, complete = 0, True
    while waiting and monotonic() < deadline and len(damaged) < _MOST_LISTED:
        path = waiting.pop()
        looked += 1
        try:
            node = open_node(store, root, path)
            if isinstance(node, Group):
                names = islice(node, _MOST_WAITING - len(waiting))
                waiting += [f"{path}/{name}" if path else name for name in names]
                complete = complete and len(waiting) < _MOST_WAITING
        except ZarrError as error:
            shown = path[len(root) :].lstrip("/")
            damaged.append({"path": shown, "problems": problems_of(error)})
    damaged.sort(key=lambda item: str(item["path"]))
    return json_answer({"damaged": damaged, "looked": looked, "complete": complete and not waiting})
