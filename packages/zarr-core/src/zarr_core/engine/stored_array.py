"""An array as it is stored, with reading and writing of its elements.

Not in :class:`StoredChunks`, which these functions depend on: modules do not form circles.
"""

from __future__ import annotations

from zarr_core.engine.read import read as read_selection
from zarr_core.engine.stored_chunks import StoredChunks
from zarr_core.engine.write import write as write_selection


class StoredArray(StoredChunks):
    """An array as it is stored, without the user interface.

    It is immutable: other metadata require another StoredArray.  Parameters and further attributes
    are those of :class:`StoredChunks`.
    """

    __slots__ = ()

    # The functions themselves: methods that call them would slow down small reads.
    read = read_selection
    write = write_selection
