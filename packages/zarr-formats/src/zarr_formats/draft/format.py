"""The two drafts of version 3.

Specification: draft of December 2022; for the draft of 2021, the code of its writers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from zarr_formats.draft import array_2021, array_2022
from zarr_formats.draft.chunk_keys import encoding
from zarr_formats.draft.keys import Layout
from zarr_formats.draft.storage import MINOR, DraftFormat

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayMetadata, ExtensionDefinition, Location, Store

    from zarr_formats.draft.entry_point import Revision
    from zarr_formats.revision import Part

# Member of a node document: the chunk key of a scalar, if it differs from zarr-python's.
_SCALAR = "scalar"


class Draft(DraftFormat):
    """The text of December 2022."""

    name: ClassVar[Revision] = "draft"
    detection_priority: ClassVar[int] = 80
    chunk_key_encoding: ClassVar[ExtensionDefinition] = encoding("/", array_2022.SCALAR)
    layout: ClassVar[Layout] = Layout()

    def _read_array(self, document: dict[str, Any], location: Location) -> ArrayMetadata:
        return array_2022.read_array(
            document["array"], location, ignore_unknown=document.get(MINOR, 0) > 0
        )

    def _parts(self) -> tuple[Part, ...]:
        return array_2022.PARTS


class Draft2021(DraftFormat):
    """The draft of 2021, as in zarrita and in zarr-python 2.12 to 2.18 in experimental mode."""

    name: ClassVar[Revision] = "draft-2021"
    detection_priority: ClassVar[int] = 70
    undefined_fill_values: ClassVar[bool] = True
    chunk_key_encoding: ClassVar[ExtensionDefinition] = encoding("/", array_2021.SCALAR)
    layout: ClassVar[Layout] = Layout("/root")
    lenient: ClassVar[bool] = True

    def _read_array(self, document: dict[str, Any], location: Location) -> ArrayMetadata:
        return array_2021.read_array(
            document["array"], location, document.get(_SCALAR, array_2021.SCALAR)
        )

    def _additional_members(self, store: Store, path: str, array: JSON) -> dict[str, JSON]:
        # zarrita and zarr-python use different chunk keys for scalars.
        if isinstance(array, dict) and array.get("shape") == []:
            prefix = self.layout.chunks(path)
            if not store.exists(prefix + array_2021.SCALAR) and store.exists(
                prefix + array_2022.SCALAR
            ):
                return {_SCALAR: array_2022.SCALAR}
        return {}

    def _parts(self) -> tuple[Part, ...]:
        return array_2021.PARTS
