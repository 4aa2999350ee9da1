"""Letting hooks object to the metadata of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import MetadataValidationError
from zarr_core.registry import hooks

if TYPE_CHECKING:
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Store


def check(store: Store, path: str, metadata: NodeMetadata) -> None:
    """Ask the hooks ``zarr_check_metadata``, if there are any.

    Parameters
    ----------
    store, path
        Where the node is, or will be; for messages.
    metadata : ArrayMetadata or GroupMetadata
        What was read, or is about to be written.

    Raises
    ------
    MetadataValidationError
        If a hook objects.
    """
    if hooks.active():
        where = f"{store} {('/' + path)!r}"
        problems = hooks.check_metadata(where, metadata.to_json())
        if problems:
            raise MetadataValidationError(where, problems)
