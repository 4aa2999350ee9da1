"""Stored shards that contradict the metadata."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from reliability_data import codec, document, everything, regular, run, sharded, stored
from zarr_core.errors import (
    ChecksumError,
    ChunkDecodeError,
)

# Shards of 4 inner chunks with 16 bytes each.
INNER = [bytes([number]) * 16 for number in (1, 2, 3, 4)]
EMPTY = 2**64 - 1
PLACES = [(0, 16), (16, 16), (32, 16), (48, 16)]
INDEX_BYTES = 4 * 16 + 4


def crc32c(data: bytes) -> bytes:
    import google_crc32c

    return google_crc32c.value(data).to_bytes(4, "little")


def index(places) -> bytes:
    entries = b"".join(struct.pack("<QQ", *place) for place in places)
    return entries + crc32c(entries)


def shard(places=PLACES, pieces=INNER, location: str = "end") -> bytes:
    if location == "start":
        return index(places) + b"".join(pieces)
    return b"".join(pieces) + index(places)


def metadata(location: str = "end", inner=None, **changes):
    changes = {"shape": [192], "chunk_grid": regular(64), **changes}
    return document(codecs=[sharded(16, codecs=inner, location=location)], **changes)


def at_start(places):
    return [
        (offset + INDEX_BYTES if offset < 1000 else offset, nbytes) for offset, nbytes in places
    ]


def replaced(number: int, place):
    return [place if n == number else old for n, old in enumerate(PLACES)]


# Entries of inner chunk 1 that affect only this inner chunk.
ENTRIES = {
    "s01 offset past the end": (1000, 16),
    "s01b offset at the end": (64, 16),
    "s01c last byte past the end": (49, 16),
    "s03 nbytes 2^62": (16, 2**62),
    "s04 sum wraps around": (2**64 - 8, 16),
    "s04b sum wraps around to a place within": (2**64 - 16, 32),
    "s04c both large": (2**63, 2**63),
    "s07 offset of the mark for empty": (EMPTY, 16),
    "s07a nbytes of the mark for empty": (16, EMPTY),
    "s07b nbytes 0": (16, 0),
    "s10 into the index": (60, 16),
    "s10b the index": (64, INDEX_BYTES),
    "s11 inner chunk too short": (16, 15),
    "s11b inner chunk too long": (16, 17),
}


@pytest.mark.parametrize("location", ["end", "start"])
@pytest.mark.parametrize("case", ENTRIES)
def test_a_bad_entry_breaks_its_inner_chunk_only(tmp_path, case, location):
    places = replaced(1, ENTRIES[case])
    if location == "start":
        places = at_start(places)
    array = stored(
        tmp_path,
        metadata(location),
        {"c/0": shard(places, location=location), "c/1": b""},
    )
    before = everything(tmp_path)
    for selection in (
        slice(16, 32),
        20,
        slice(18, 30),
        slice(0, 64),
        slice(10, 20),
        slice(31, 5, -1),
    ):
        with pytest.raises(ChunkDecodeError) as caught:
            array[selection]
        assert type(caught.value) is ChunkDecodeError
        assert f"{tmp_path} 'c/0'" in str(caught.value)
        assert "inner chunk (1,)" in str(caught.value)
    assert array[:16].tolist() == [1] * 16
    assert array[32:64].tolist() == [3] * 16 + [4] * 16
    assert array[[3, 40]].tolist() == [1, 3]
    with pytest.raises(ChunkDecodeError, match="c/0"):
        array[20] = 9
    assert everything(tmp_path) == before
    array[0:64] = 9  # the whole shard, without reading the old one
    assert array[:64].tolist() == [9] * 64


BROKEN = {
    "s05 index flip": (lambda: flip(shard(), -10), ChecksumError, "index"),
    "s05b index checksum flip": (lambda: flip(shard(), -1), ChecksumError, "index"),
    "s06 shorter than the index": (lambda: shard()[-20:], ChunkDecodeError, "20 bytes"),
    "s06a one byte": (lambda: b"x", ChunkDecodeError, "1 bytes"),
    "s06b empty": (lambda: b"", ChunkDecodeError, "0 bytes"),
    "s06c cut short": (lambda: shard()[:-1], ChecksumError, "index"),
    "text": (lambda: b"<html>403 Forbidden</html>" * 9, ChecksumError, "index"),
}


def flip(data: bytes, position: int) -> bytes:
    damaged = bytearray(data)
    damaged[position] ^= 4
    return bytes(damaged)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_index_breaks_its_shard_only(tmp_path, case):
    data, error, saying = BROKEN[case]
    array = stored(tmp_path, metadata(), {"c/0": shard(), "c/1": data(), "c/2": shard()})
    before = everything(tmp_path)
    for selection in (slice(64, 128), 70, slice(70, 90), ..., [1, 70], slice(None, None, -7)):
        with pytest.raises(error, match=saying) as caught:
            array[selection]
        assert type(caught.value) is error
        assert f"{tmp_path} 'c/1'" in str(caught.value)
    with pytest.raises(error, match="c/1"):
        array[70] = 9
    assert everything(tmp_path) == before
    assert array[:64].tolist() == array[128:].tolist()
    array[64:128] = 5
    assert array[60:68].tolist() == [4] * 4 + [5] * 4


def test_inner_chunks_may_overlap_and_leave_gaps(tmp_path):
    places = [(0, 16), (0, 16), (8, 16), (40, 16)]
    array = stored(tmp_path, metadata(), {"c/0": shard(places)})
    expected = [1] * 32 + [1] * 8 + [2] * 8 + [3] * 8 + [4] * 8
    assert array[:64].tolist() == expected
    array[0] = 9
    assert array[:64].tolist() == [9, *expected[1:]]


def test_inner_chunks_that_do_not_decompress(tmp_path):
    good = gzip.compress(INNER[0])
    pieces = [good, good[:-3], gzip.compress(bytes(1 << 24)), good]
    places, offset = [], 0
    for piece in pieces:
        places.append((offset, len(piece)))
        offset += len(piece)
    array = stored(
        tmp_path,
        metadata(inner=[codec("bytes"), codec("gzip", level=1)]),
        {"c/0": shard(places, pieces)},
    )
    for number, selections in {1: (16, slice(16, 32)), 2: (33, slice(32, 48))}.items():
        for selection in selections:
            with pytest.raises(ChunkDecodeError, match=rf"c/0.*inner chunk \({number},\)"):
                array[selection]
    assert array[:16].tolist() == array[48:64].tolist() == [1] * 16


def test_a_shard_of_2_to_the_26_inner_chunks_can_be_opened(tmp_path):
    array = stored(
        tmp_path, document(shape=[2**26], chunk_grid=regular(2**26), codecs=[sharded(1)])
    )
    assert array[5] == 7


@pytest.mark.parametrize("seed", range(40))
def test_random_damage_gives_the_one_error_or_the_right_values(tmp_path, seed):
    generator = np.random.default_rng(seed)
    location = ("end", "start")[seed % 2]
    good = shard(PLACES if location == "end" else at_start(PLACES), location=location)
    damaged = bytearray(good)
    # Also with a correct checksum, as in malicious data.
    start = 0 if location == "start" else 64
    for position in generator.integers(0, 64, 1 + seed % 4):
        damaged[start + position] = generator.choice([0, 1, 16, 127, 128, 255])
    damaged[start + 64 : start + 68] = crc32c(bytes(damaged[start : start + 64]))
    array = stored(tmp_path, metadata(location), {"c/0": bytes(damaged)})
    refused = []
    for selection in (slice(0, 64), 1, 17, 33, 49, slice(8, 60), slice(0, 64, 5), [2, 50]):
        try:
            assert np.shape(array[selection]) == np.shape(np.empty(192)[selection])
        except ChunkDecodeError as error:
            refused.append(error)
    try:
        array[5:40] = 1
    except ChunkDecodeError as error:
        refused.append(error)
        assert everything(tmp_path)["c/0"] == bytes(damaged)
    else:
        assert array[5:40].tolist() == [1] * 35
    assert all("c/0" in str(error) for error in refused)


PEAK = """
import resource, sys
from pathlib import Path
import zarr_core as zarr
from reliability_data import document, put, regular, sharded, stored, codec
from test_bad_shards import *
root = Path(sys.argv[1])
bomb = gzip.compress(bytes(1 << 28))
arrays = []
def add(*arguments, **options):
    arrays.append(stored(root / str(len(arrays)), *arguments, **options))
for place in ENTRIES.values():
    add(metadata(), {"c/0": shard(replaced(0, place))})
    add(metadata("start"), {"c/0": shard(at_start(replaced(0, place)), location="start")})
for data, _, _ in BROKEN.values():
    add(metadata(), {"c/0": data()})
gzipped = metadata(inner=[codec("bytes"), codec("gzip", level=1)])
add(gzipped, {"c/0": shard([(0, len(bomb))] * 4, [bomb])})
del bomb
def use(array):
    for work in (lambda: array[:16], lambda: array[3], lambda: array.__setitem__(3, 1)):
        try:
            work()
        except ChunkDecodeError:
            continue
        raise SystemExit(str(array))
for array in arrays[:-1]:
    use(array)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for array in arrays:
    use(array)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_damaged_shards_cost_no_memory(tmp_path):
    assert int(run(PEAK, tmp_path).stdout) < 4
