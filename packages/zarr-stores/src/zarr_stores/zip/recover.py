"""Recovery of complete values from a zip archive whose writer was killed.

In a shell: ``python -m zarr_stores.zip.recover FILE NEW_FILE``.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from typing import TYPE_CHECKING
from zipfile import ZipInfo

from zarr_core.extension import StoreError, StoreKeyError, StoreReadError, check_key

from zarr_stores.zip.archive import LOCAL_HEADER, Archive, file_source
from zarr_stores.zip.store import ZipStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_UNKNOWN_SIZE = 0xFFFFFFFF
_SIZES_FOLLOW = 0x8
_ZIP64 = 1
_MARK = b"PK\7\x08"
_SHORT, _LONG = struct.Struct("<3I"), struct.Struct("<I2Q")


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
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        source = file_source(descriptor)
        data = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) if source.size else b""
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror}", store=path) from error
    count = 0
    with ZipStore(new_path, mode="x") as store:
        for key, value in _complete_values(Archive(source, {}), data):
            store.set(key, value)
            count += 1
    return count


def _complete_values(archive: Archive, data: bytes | mmap.mmap) -> Iterator[tuple[str, Buffer]]:
    """Iterate over the entries without the central directory, which is missing."""
    position = 0
    while (found := _entry_at(data, position)) is not None:
        info, position = found
        try:
            value = archive.read(info)
        except (StoreReadError, MemoryError):
            return
        try:
            yield check_key(info.filename), value
        except StoreKeyError:
            continue


def _entry_at(data: bytes | mmap.mmap, position: int) -> tuple[ZipInfo, int] | None:
    """Return an entry and the offset of the next one."""
    names = position + LOCAL_HEADER.size
    if data[position : position + 4] != b"PK\3\4" or names > len(data):
        return None
    fields = LOCAL_HEADER.unpack_from(data, position)
    name_length, extra_length = fields[9:]
    start = names + name_length + extra_length
    info = ZipInfo(data[names : names + name_length].decode("utf-8", "replace"))
    info.header_offset, info.flag_bits, info.compress_type = position, fields[2], fields[3]
    info.CRC, info.compress_size, info.file_size = fields[6:9]
    behind = 0
    if info.flag_bits & _SIZES_FOLLOW:
        described = _data_descriptor(data, start)
        if described is None:
            return None
        info.CRC, info.compress_size, info.file_size, behind = described
    elif _UNKNOWN_SIZE in (info.file_size, info.compress_size):
        extra = data[names + name_length : start]
        if len(extra) < 20 or struct.unpack_from("<H", extra)[0] != _ZIP64:
            return None
        info.file_size, info.compress_size = struct.unpack_from("<QQ", extra, 4)
    return info, start + info.compress_size + behind


def _data_descriptor(data: bytes | mmap.mmap, start: int) -> tuple[int, int, int, int] | None:
    """Return checksum, compressed size, size and length of a data descriptor.

    Programs that write to a pipe or network store these values after the data.  A data
    descriptor begins with a signature, and is valid if its compressed size matches.
    """
    position = data.find(_MARK, start)
    while position >= 0:
        fields = data[position + len(_MARK) : position + len(_MARK) + _LONG.size + 2]
        for form in (_SHORT, _LONG):
            if len(fields) >= form.size and fields[form.size : form.size + 2] in (b"PK", b""):
                checksum, compressed_size, size = form.unpack_from(fields)
                if compressed_size == position - start:
                    return checksum, compressed_size, size, len(_MARK) + form.size
        position = data.find(_MARK, position + 1)
    return None


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
