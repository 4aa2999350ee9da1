"""Recovery of complete values from a zip archive whose writer was killed.

In a shell: ``python -m zarr_stores.zip.recover FILE NEW_FILE``.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import TYPE_CHECKING

from zarr_core.extension import StoreError, StoreKeyError, StoreReadError, check_key

from zarr_stores.zip import ZipStore
from zarr_stores.zip.archive import LOCAL_HEADER, Entry, data_start, open_file, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

    from zarr_stores.zip.source import Descriptor

_UNKNOWN_SIZE = 0xFFFFFFFF
_SIZES_FOLLOW = 0x8
_ZIP64 = 1
_MARK = b"PK\7\x08"
_SHORT, _LONG = struct.Struct("<3I"), struct.Struct("<I2Q")
_WINDOW = 1 << 20


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
        descriptor = open_file(os.fspath(path))
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror}", store=path) from error
    count = 0
    with ZipStore(new_path, mode="x") as store:
        for key, value in _complete_values(descriptor):
            store.set(key, value)
            count += 1
    return count


def _complete_values(descriptor: Descriptor) -> Iterator[tuple[str, Buffer]]:
    """Iterate over the entries without the central directory, which is missing."""
    position = 0
    while (found := _entry_at(descriptor, position)) is not None:
        name, entry, position = found
        try:
            value = read_whole(descriptor, data_start(descriptor, entry), entry)
        except (StoreReadError, MemoryError):
            return
        try:
            yield check_key(name), value
        except StoreKeyError:
            continue


def _entry_at(descriptor: Descriptor, position: int) -> tuple[str, Entry, int] | None:
    """Return the name of an entry, the entry, and the offset of the next entry."""
    header = descriptor.read(position, LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
        return None
    fields = LOCAL_HEADER.unpack(header)
    flags, method = fields[2:4]
    checksum, compressed_size, size, name_length, extra_length = fields[6:]
    rest = descriptor.read(position + len(header), name_length + extra_length)
    extra = rest[name_length:]
    start, behind = position + len(header) + len(rest), 0
    if flags & _SIZES_FOLLOW:
        described = _data_descriptor(descriptor, start)
        if described is None:
            return None
        checksum, compressed_size, size, behind = described
    elif _UNKNOWN_SIZE in (size, compressed_size):
        if len(extra) < 20 or struct.unpack_from("<H", extra)[0] != _ZIP64:
            return None
        size, compressed_size = struct.unpack_from("<QQ", extra, 4)
    name = rest[:name_length].decode("utf-8", "replace")
    entry = Entry(position, size, compressed_size, method, checksum, bool(flags & 1))
    return name, entry, start + compressed_size + behind


def _data_descriptor(descriptor: Descriptor, start: int) -> tuple[int, int, int, int] | None:
    """Return checksum, compressed size, size and length of a data descriptor.

    Programs that write to a pipe or network store these values after the data.  A data
    descriptor begins with a signature, and is valid if its compressed size matches.
    """
    position = start
    while block := descriptor.read(position, _WINDOW):
        at = block.find(_MARK)
        while at >= 0:
            place = position + at
            fields = descriptor.read(place + len(_MARK), _LONG.size + 2)
            for form in (_SHORT, _LONG):
                if len(fields) >= form.size and fields[form.size : form.size + 2] in (b"PK", b""):
                    checksum, compressed_size, size = form.unpack_from(fields)
                    if compressed_size == place - start:
                        return checksum, compressed_size, size, len(_MARK) + form.size
            at = block.find(_MARK, at + 1)
        if len(block) < _WINDOW:
            return None
        position += _WINDOW - len(_MARK) + 1
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
