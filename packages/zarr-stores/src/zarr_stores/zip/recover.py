"""Recovery of complete values from a zip archive whose writer was killed.

In a shell: ``python -m zarr_stores.zip.recover FILE NEW_FILE``.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import TYPE_CHECKING
from zipfile import ZipInfo

from zarr_core.extension import StoreError, StoreReadError

from zarr_stores.databases.database_store import is_key
from zarr_stores.zip.archive import LOCAL_HEADER, Archive, open_source
from zarr_stores.zip.store import ZipStore

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_EXTRA_FIELD = 0xFFFFFFFF  # the size is in an extra field
_SIZES_FOLLOW = 0x8
_ZIP64 = struct.Struct("<HHQQ")  # kind and length of the field, size and compressed size


def recover(path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> int:
    """Copy every complete value of a damaged archive to a new archive.

    Parameters
    ----------
    path : path
        Path of the damaged archive, which is not changed.
    new_path : path
        Path of the new archive, which must not exist.

    Returns
    -------
    int
        Number of values that are complete according to their checksums.

    Raises
    ------
    StoreError
        If the new archive exists, or a file cannot be read or written.
    """
    try:
        source = open_source(os.fspath(path))
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror}", store=path) from error
    assert source is not None
    archive = Archive(source, {})
    count = 0
    with ZipStore(new_path, mode="x") as store:
        for info in _entries(archive, path):
            try:
                value = archive.read(info)
            except (StoreReadError, MemoryError):
                break
            if is_key(info.filename):
                store.set(info.filename, value)
                count += 1
    return count


def _entries(archive: Archive, path: object) -> Iterator[ZipInfo]:
    """Iterate over the entries by their local headers; the central directory may be missing."""
    source, position = archive.source, 0
    while position + LOCAL_HEADER.size <= source.size:
        header = LOCAL_HEADER.unpack(source.read(position, LOCAL_HEADER.size))
        signature, _, flags, method, _, _, checksum, compressed, size, name_length, extra = header
        start = position + LOCAL_HEADER.size + name_length + extra
        if signature != b"PK\3\4" or start > source.size:
            return
        if flags & _SIZES_FOLLOW:
            raise StoreError(
                "an entry was written by a program that stores its size behind it; recover the "
                "archive with: zip -FF FILE --out NEW_FILE",
                store=path,
            )
        names = bytes(source.read(position + LOCAL_HEADER.size, name_length + extra))
        info = ZipInfo(names[:name_length].decode("utf-8", "replace"))
        if _IN_EXTRA_FIELD in (size, compressed):
            if extra < _ZIP64.size:
                return
            _, _, size, compressed = _ZIP64.unpack_from(names, name_length)
        info.header_offset, info.flag_bits, info.compress_type = position, flags, method
        info.CRC, info.compress_size, info.file_size = checksum, compressed, size
        # A writer stores checksum and sizes after the value: with zeros it was killed during the
        # value, unless the value is empty, so that the next header follows.
        is_empty = not (checksum or compressed or size)
        if is_empty and bytes(source.read(start, min(2, source.size - start))) != b"PK":
            return
        yield info
        position = start + compressed


def main(arguments: list[str]) -> None:
    """Recover the archive named by the first argument to the second one."""
    if len(arguments) != 2:
        sys.exit("usage: python -m zarr_stores.zip.recover FILE NEW_FILE")
    try:
        count = recover(*arguments)
    except StoreError as error:
        sys.exit(f"Error: {error}")
    print(f"{count} complete values written to {arguments[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
