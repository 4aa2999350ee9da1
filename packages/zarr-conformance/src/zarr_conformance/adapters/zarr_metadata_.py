"""zarr-metadata (https://pypi.org/project/zarr-metadata), which supports metadata documents only."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.adapter import Adapter, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.adapters.adapter import Problems

model: Any = import_module("zarr_metadata.model")


class ZarrMetadata(Adapter):
    """Validation of metadata documents of format 3."""

    implementation = "zarr-metadata"
    formats = (3,)
    operations = ("validate",)

    def version(self) -> str:
        return version("zarr-metadata")

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        raise UnsupportedError("opening nodes is not supported")

    def validate(self, request: Mapping[str, Any]) -> Problems:
        text = Path(request["store"], request["path"], "zarr.json").read_text("utf-8")
        problems = model.read_node_metadata_v3(json.loads(text)).problems
        return [
            {"pointer": _pointer(problem.loc), "message": problem.message} for problem in problems
        ]


def _pointer(location: tuple[str | int, ...]) -> str:
    """Return a path in a document as a JSON pointer."""
    return "".join(f"/{str(item).replace('~', '~0').replace('/', '~1')}" for item in location)


if __name__ == "__main__":
    ZarrMetadata().serve()
