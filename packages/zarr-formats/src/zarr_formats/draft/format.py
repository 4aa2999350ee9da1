"""The two drafts of version 3.

Specification: draft of December 2022; its dialect of 2021, by its writers' code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from zarr_formats.draft import dialect, document
from zarr_formats.draft.chunk_keys import encoding
from zarr_formats.draft.keys import Layout
from zarr_formats.draft.storage import DraftFormat

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayMetadata, ExtensionDefinition

    from zarr_formats.draft.entry_point import Dialect
    from zarr_formats.revision import Part


class Draft(DraftFormat):
    """The text of December 2022."""

    name: ClassVar[Dialect] = "draft"
    marks: ClassVar[tuple[str, ...]] = ("zarr.json with a URI",)
    chunk_key_encoding: ClassVar[ExtensionDefinition] = encoding("/", document.SCALAR)
    layout: ClassVar[Layout] = Layout()

    def _read_array(self, found: JSON, where: str, minor: int) -> ArrayMetadata:
        return document.read_array(found, where, ignoring=minor > 0)

    def _parts(self) -> tuple[Part, ...]:
        return document.PARTS


class Draft2021(DraftFormat):
    """What zarrita (2021) and zarr-python 2.12 to 2.18 wrote under its experimental switch."""

    name: ClassVar[Dialect] = "draft-2021"
    marks: ClassVar[tuple[str, ...]] = Draft.marks
    chunk_key_encoding: ClassVar[ExtensionDefinition] = encoding("/", dialect.SCALAR)
    layout: ClassVar[Layout] = Layout("/root")
    lenient: ClassVar[bool] = True

    def _read_array(self, found: JSON, where: str, minor: int) -> ArrayMetadata:
        return dialect.read_array(found, where)

    def _parts(self) -> tuple[Part, ...]:
        return dialect.PARTS
