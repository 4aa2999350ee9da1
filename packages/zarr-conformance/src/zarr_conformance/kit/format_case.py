"""The common part of the tests for formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import zarr_core as zarr
from zarr_core.extension import Format
from zarr_core.registry.resolve import format_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class FormatCase:
    """The format and its capabilities."""

    name: ClassVar[str]
    """The name of the format."""

    extension: ClassVar[type[Format] | None] = None
    """The class, if it is not installed; None to find it by its name."""

    data_types: ClassVar[Sequence[Any]] = ("bool", "int16", "uint8", "float32", "complex64")
    """Data types that the format supports."""

    groups = True
    """Whether there are groups; otherwise a hierarchy is one array."""

    attributes = True
    """Whether nodes have attributes."""

    examples = 15
    """Number of examples of each Hypothesis test."""

    @pytest.fixture(autouse=True)
    def _extension_given(self) -> Iterator[None]:
        extensions = None if self.extension is None else {"format": {self.name: self.extension}}
        with zarr.override_extensions(extensions):
            yield

    def array(self, store: Any, **options: Any) -> zarr.Array:
        """A new array of the format."""
        options = {"shape": (5, 7), "chunks": (2, 3), "dtype": "int16"} | options
        return zarr.create_array(store, zarr_format=self.name, **options)

    def format(self) -> Format:
        """The format itself."""
        format_ = format_named(self.name)
        assert isinstance(format_, Format)
        return format_

    def _path(self, name: str) -> str:
        return name if self.groups else ""


def stored(store: Any) -> dict[str, bytes]:
    """All keys of a store with their values."""
    return {key: bytes(store.get(key) or b"") for key in store.list()}
