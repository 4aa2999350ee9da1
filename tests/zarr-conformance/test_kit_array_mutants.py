"""The kit finds what is wrong with codecs of arrays: one mistake each, at the test meant for it."""

import planted_mistakes
import pytest

pytest_plugins = ["pytester"]

TURNED = '''
"""Codec from arrays to arrays: dimensions in the opposite order."""

from dataclasses import dataclass

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

SHARED = np.zeros(1 << 16, "u1")


@dataclass(frozen=True, slots=True)
class Planted(ArrayToArrayCodec):

    def encoded_representation(self, decoded):
        shape = decoded.shape[::-1]
        return ArrayRepresentation(shape, decoded.data_type, decoded.fill_value, decoded.write_empty_chunks)

    def encode(self, array, decoded):
        return array.T

    def decode(self, array, decoded):
        return array.T

    def encoded_part(self, selection, part):
        return type(selection)(selection.index[::-1]), part.T
'''

ROWS = '''
"""Codec from arrays to bytes: the elements in the byte order of networks."""

from dataclasses import dataclass

import numpy as np
from zarr_core.extension import BasicIndexer, ChunkDecodeError, PartialEncodeCodec
from zarr_core.selection.projection import put, take

SHARED = np.zeros(1 << 16, "u1")


@dataclass(frozen=True, slots=True)
class Planted(PartialEncodeCodec):

    def encoded_size(self, decoded):
        return decoded.nbytes

    def encode(self, array, decoded):
        return array.astype(array.dtype.newbyteorder(">")).tobytes()

    def decode(self, data, decoded):
        if len(data) != decoded.nbytes:
            raise ChunkDecodeError(f"has {len(data)} bytes")
        dtype = decoded.data_type.numpy_dtype.newbyteorder(">")
        return np.frombuffer(data, dtype).reshape(decoded.shape)

    def partial_decode(self, reader, decoded, selection, out):
        dtype = decoded.data_type.numpy_dtype.newbyteorder(">")
        if isinstance(selection, BasicIndexer) and decoded.shape:
            rows, *others = selection.index
            size = decoded.nbytes // decoded.shape[0]
            data = reader.read(rows.start * size, (rows.stop - rows.start) * size)
            found = np.frombuffer(data, dtype).reshape(-1, *decoded.shape[1:])
            out[...] = found[(slice(None, None, rows.step), *others)]
        else:
            out[...] = take(self.decode(reader.read(0, reader.size), decoded), selection)

    def partial_encode(self, reader, decoded, selection, value):
        if reader is None:
            chunk = np.full(decoded.shape, decoded.fill_value, decoded.data_type.numpy_dtype)
        else:
            chunk = np.array(self.decode(reader.read(0, reader.size), decoded))
        put(chunk, selection, value)
        return self.encode(chunk, decoded)
'''

SCHEMA = '{"type": "object", "additionalProperties": false}'
TEST = """
from hypothesis import strategies as st
from zarr_conformance.kit import {kit}
from {package} import Planted


class TestPlanted({kit}):
    name = "acme.planted"
    extension = Planted
    data_types = ["int16", "uint8", "float64"]

    def shapes(self, configuration):
        return st.just((3, 4))
"""

SOURCES = {"ArrayToArrayCodecTests": TURNED, "ArrayToBytesCodecTests": ROWS}
TO_ARRAY, TO_BYTES = SOURCES

ENCODE = "def encode(self, array, decoded):\n"
DECODE = "def decode(self, array, decoded):\n"
SLOWLY = """        import time
        shared = SHARED[: array.nbytes].view(array.dtype).reshape(array.shape)
        shared[...] = array
        time.sleep(1e-4)
        array = shared.copy()
"""

MUTANTS = [
    # kit, what is replaced in the code, by what, the test that must fail
    (TO_ARRAY, "shape = decoded.shape[::-1]", "shape = decoded.shape", "encode_matches_encoded_representation"),
    (TO_ARRAY, "decoded.fill_value,", "decoded.fill_value[None],", "encode_matches_encoded_representation"),
    (TO_ARRAY, "return array.T\n\n    def decode", "return array.T.astype(bool)\n\n    def decode", "encode_matches_encoded_representation"),
    (TO_ARRAY, DECODE + "        return array.T", DECODE + "        found = array.T.copy()\n        array[...] = 0\n        return found", "encode_matches_encoded_representation"),
    (TO_ARRAY, DECODE + "        return array.T", DECODE + "        return array.T[::-1]", "chunk_round_trip"),
    (TO_ARRAY, DECODE + "        return array.T", DECODE + "        return array.reshape(decoded.shape)", "chunk_round_trip"),
    (TO_ARRAY, ENCODE, ENCODE + "        array[...] = array * 0\n", "chunk_round_trip"),
    (TO_ARRAY, ENCODE, ENCODE + "        array = array.ravel('K').reshape(array.shape)\n", "memory_layout_round_trip"),
    (TO_ARRAY, ENCODE, ENCODE + SLOWLY, "thread_safety"),
    (TO_ARRAY, "(selection.index[::-1]), part.T", "(selection.index), part", "partial_selection_matches_whole_array"),
    (TO_BYTES, "return decoded.nbytes\n", "return decoded.nbytes + 1\n", "chunk_round_trip"),
    (TO_BYTES, "return array.astype", "array[...] = array * 0\n        return array.astype", "chunk_round_trip"),
    (TO_BYTES, ".tobytes()", ".tobytes('A')", "memory_layout_round_trip"),
    (TO_BYTES, "return array.astype", SLOWLY.lstrip() + "        return array.astype", "thread_safety"),
    (TO_BYTES, "if len(data) != decoded.nbytes", "if False", "damaged_chunk_raises"),
    (TO_BYTES, "        if len(data)", "        bytes(1 << 26)\n        if len(data)", "damaged_chunk_raises"),
    (TO_BYTES, "rows.start * size", "0", "partial_decode_matches_full_decode"),
    (TO_BYTES, "slice(None, None, rows.step)", "slice(None)", "partial_decode_matches_full_decode"),
    (TO_BYTES, "if reader is None:", "if True:", "partial_encode"),
    (TO_BYTES, "        put(chunk, selection, value)\n", "", "partial_encode"),
    (TO_BYTES, "if reader is None:", "if False:", "partial_encode"),
]  # fmt: skip


def failed_tests(pytester, kit, number, old, new, only=""):
    """Names of the tests that fail for a codec with that mistake."""
    source = SOURCES[kit]
    assert source.count(old) == 1 or not old, f"{source.count(old)} places to replace"
    package = f"planted_{number}"
    folder = pytester.path / package
    (folder / "schemas" / "codec").mkdir(parents=True)
    (folder / "schemas" / "codec" / "acme.planted.json").write_text(SCHEMA)
    (folder / "__init__.py").write_text(source.replace(old, new) if old else source)
    test = pytester.path / f"test_{package}.py"
    test.write_text(TEST.format(kit=kit, package=package))
    pytester.syspathinsert(pytester.path)
    return planted_mistakes.failed_tests(pytester, test, package, only)


@pytest.mark.parametrize(
    "number", range(len(MUTANTS)), ids=lambda n: f"{MUTANTS[n][0]}-{n}-{MUTANTS[n][3]}"
)
def test_planted_mistake_is_found(number, pytester):
    kit, old, new, expected = MUTANTS[number]
    assert expected in failed_tests(pytester, kit, number, old, new, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kit", SOURCES)
def test_unchanged_template_passes(kit, pytester):
    assert failed_tests(pytester, kit, f"good_{len(kit)}", "", "") == set()
