"""The kit finds what is wrong: extensions with one mistake each fail the test meant for it."""

import tomllib

import planted_mistakes
import pytest
from zarr_conformance.template import new_distribution
from zarr_core.registry import discovery

pytest_plugins = ["pytester"]

TRANSLATE = "return bytes(data).translate(bytes((byte - self.shift)"
DECODE = "decoded_size: int | None) -> bytes:\n"
ENCODE = "def encode(self, data: Buffer, decoded_size: int | None) -> bytes:\n"
SHARED = """        import time
        SHARED[:] = data
        time.sleep(1e-4)
        data = bytes(SHARED)
"""

CREATE = "return store_new(store, _key(path), lambda: self._bytes(metadata))"
NO_CHILDREN = "    def child_names(self, store, path): return iter(())\n\n"
HOOK = "    @hookimpl\n    def zarr_check_metadata"
SUPPLY = "    @hookimpl\n    def zarr_supply_extension(self, extension_point): return extension_point\n\n"

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

SOURCES = {
    "array-to-array": ("ArrayToArrayCodecTests", TURNED),
    "array-to-bytes": ("ArrayToBytesCodecTests", ROWS),
}
TO_ARRAY, TO_BYTES = SOURCES

ENCODE_ARRAY = "def encode(self, array, decoded):\n"
DECODE_ARRAY = "def decode(self, array, decoded):\n"
SLOWLY = """        import time
        shared = SHARED[: array.nbytes].view(array.dtype).reshape(array.shape)
        shared[...] = array
        time.sleep(1e-4)
        array = shared.copy()
"""

MUTANTS = [
    # kind, what is replaced in the code or the schema, by what, the tests that must fail
    ("codec", TRANSLATE, TRANSLATE.replace("(data)", "(data)[:-1]", 1), "content_round_trip"),
    ("codec", TRANSLATE, TRANSLATE.replace("- self", "+ self"), "chunk_round_trip"),
    ("codec", "return decoded_size", "return decoded_size + 1", "content_round_trip"),
    (
        "codec",
        ENCODE,
        ENCODE + '        if type(data) is bytearray: data[:1] = b"x"[: len(data)]\n',
        "encode_accepts_buffers_and_does_not_change_them",
    ),
    ("codec", DECODE, DECODE + "        data[-1]\n", "damaged_chunk_raises"),
    ("codec", DECODE, DECODE + "        bytes(1 << 26)\n", "damaged_chunk_raises"),
    (
        "codec",
        "    def encoded_size",
        "    @property\n    def detects_damage(self): return True\n\n    def encoded_size",
        "damaged_chunk_raises",
    ),
    ("codec", ENCODE, ENCODE + SHARED, "thread_safety"),
    (
        "codec",
        "    def encoded_size",
        "    def to_configuration(self): return {'shift': 1}\n\n    def encoded_size",
        "configuration_is_preserved",
    ),
    ("data-type", "class Mutant", "class Renamed", "is_installed"),
    ("codec", '"type": "integer",', '"title": "Number",', "mutated_configuration_raises"),
    ("codec", '"maximum": 255', '"maximum": 300', "invalid_configuration_raises"),
    ("codec", '"shift"],', '"shift", "more"],', "schema_accepts_configuration"),
    ("data-type", "return int(value)", "return int(value) & 0xFFFF", "fill_value_round_trip"),
    ("data-type", "type(value) is not int or", "", "invalid_fill_value_raises"),
    ("data-type", "slots=True)", "eq=False)", "data_type_equality"),
    ("data-type", '{"unit": self.unit}', '{"unit": "m"}', "configuration_is_preserved"),
    ("data-type", 'np.dtype("int32")', 'np.dtype(">i4")', "item_size_matches_numpy"),
    ("chunk-grid", "((1 << chunk) - 1)", "(1 << chunk)", "chunks_are_contiguous"),
    ("chunk-grid", '"right"', '"left"', "elements_map_to_chunks"),
    ("chunk-grid", ".bit_length(), first", ".bit_length() + 1, first", "chunks_are_contiguous"),
    ("chunk-grid", "frozen=True, slots=True", "eq=False", "grid_equality"),
    ("chunk-key-encoding", 'return "/".join', 'return "".join', "decode_inverts_encode"),
    ("chunk-key-encoding", 'r"0|[1-9][0-9]{0,18}"', 'r"[0-9]{1,18}"', "decode_rejects_other_keys"),
    ("chunk-key-encoding", "len(numbers) != ndim or", "", "decode_rejects_other_keys"),
    (
        "chunk-key-encoding",
        "    def encode(",
        "    def affixes(self, ndim): return ('tile/', '.')\n\n    def encode(",
        "affixes_match_encode",
    ),
    ("store", "        if self.read_only:", "        if False:", "read_only"),
    ("store", "        check_prefix(prefix)\n        found", "        found", "invalid_prefixes_raise"),
    ("store", 'b"".join(buffers)', "bytes(buffers[-1])", "buffers_are_concatenated"),
    ("store", '"delete from items where key = ?"', '"select ?"', "erase"),
    ("store", "substr(key, 1, length(?)) = ?\"\n        return", "instr(key, ?) and ? <> '.'\"\n        return", "list_prefix_matches_whole_segments"),
    ("store", "    check_key(key)\n", "", "invalid_keys_raise"),
    ("storage-transformer", "!= stored", "is None", "damaged_value_raises"),
    ("storage-transformer", "self.inner.set(key,", 'self.inner.set("x/" + key,', "other_keys_are_not_changed"),
    ("storage-transformer", "    def set(", "    def erase(self, key): pass\n    def set(", "chunk_value_round_trip"),
    ("format", CREATE, CREATE + " or True", "create_node_twice"),
    (
        "format",
        CREATE,
        "if new := not store.exists(_key(path)):\n"
        "            store.set(_key(path), self._bytes(metadata))\n        return new",
        "concurrent_creation_has_one_winner",
    ),
    ("format", CREATE, CREATE + " or True", "concurrent_creation_keeps_metadata_consistent"),
    (
        "format",
        "return metadata.to_json()",
        "return {k: v for k, v in metadata.to_json().items() if k != 'consolidated_metadata'}",
        "consolidated_metadata_is_kept_or_rejected",
    ),
    ("format", "strictjson.loads(value, location)", "json.loads(value)", "damaged_metadata_raises"),
    ("format", "    def find_unmanaged_key", NO_CHILDREN + "    def find_unmanaged_key", "group_members"),
    ("format", "return next((key for", "return None and next((key for", "unmanaged_keys_are_found"),
    (
        "format",
        "json.dumps(self.to_json(metadata)",
        "json.dumps(self.to_json(metadata) | {'attributes': {}}",
        "metadata_round_trip",
    ),
    ("extension", 'value = document["', 'value = document.pop("attributes", 0) or document["', "metadata_is_not_modified"),
    ("extension", "return []", "return ()", "metadata_is_not_modified"),
    ("extension", "            return [", "            return [] and [", "inapplicable_node_raises"),
    ("extension", "not self.least <= value", "not value", "contradictory_metadata_raises"),
    ("extension", 'ValidationProblem("/fill_value"', 'ValidationProblem("fill_value"', "contradictory_metadata_raises"),
    ("extension", "if self.least > self.greatest", "if False", "invalid_configuration_raises"),
    ("hooks", "    @hookimpl\n", "", "hooks_are_marked"),
    ("hooks", "zarr_check_metadata", "zarr_check_metdata", "is_installed"),
    ("hooks", 'document.get("dimension_names")', 'document["dimension_names"]', "metadata_is_not_modified"),
    ("hooks", ".get(", ".pop(", "metadata_is_not_modified"),
    ("hooks", "name is not None and", "", "metadata_is_not_modified"),
    ("hooks", "name != name.lower()", "False", "rejected_metadata_raises"),
    ("hooks", "name != name.lower()", "name.lower()", "accepted_metadata_opens"),
    ("hooks", HOOK, SUPPLY + HOOK, "other_names_are_not_supplied"),
    ("display", "def html(", "def htm(", "html_of_all_objects"),
    ("display", "{escape(text)}", "{text}", "names_and_values_are_escaped"),
    ("display", 'escape_controls(repr(shown), keep="\\n")', "repr(shown) + (''.join(shown) if hasattr(shown, 'keys') else '')", "names_and_values_are_escaped"),
    ("display", "text = ", "len(list(shown.store.list())) if hasattr(shown, 'store') else 0; text = ", "array_display_does_not_read_store"),
    ("display", '"Format": node.format.name', '"Format": node.format', "info_and_tree"),
    ("bridge", 'distribution="', 'distribution="no-such-', "providers_are_valid"),
    ("bridge", '("crc32",', '("crc32", "crc32",', "providers_are_valid"),
    ("bridge", 'extension_point="codec",', 'extension_point="codec", version=__import__("uuid").uuid4().hex,', "providers_are_deterministic"),
    ("bridge", 'f"zlib:{function}"', '__import__("colorsys").__name__ + ":rgb_to_hsv"', "bridge_does_not_import_library"),
    ("bridge", "return type(", "return found or type(", "providers_load"),
    ("bridge", "= bytes(data)[:-_SIZE]", "= bytes(data)[-_SIZE:]", "content_round_trip"),
    ("chunk-memory-layout", "return np.flip(array)", "return array + 1", "layout_permutes_elements"),
    ("chunk-memory-layout", "return np.flip(array)", "return np.roll(array, 1)", "chunk_round_trip"),
    ("chunk-memory-layout", "frozen=True, slots=True", "eq=False", "layout_equality"),
    ("chunk-memory-layout", "if definition.configuration !=", "if ... ==", "mutated_configuration_raises"),
    (TO_ARRAY, "shape = decoded.shape[::-1]", "shape = decoded.shape", "encode_matches_encoded_representation"),
    (TO_ARRAY, "decoded.fill_value,", "decoded.fill_value[None],", "encode_matches_encoded_representation"),
    (TO_ARRAY, "return array.T\n\n    def decode", "return array.T.astype(bool)\n\n    def decode", "encode_matches_encoded_representation"),
    (TO_ARRAY, DECODE_ARRAY + "        return array.T", DECODE_ARRAY + "        found = array.T.copy()\n        array[...] = 0\n        return found", "encode_matches_encoded_representation"),
    (TO_ARRAY, DECODE_ARRAY + "        return array.T", DECODE_ARRAY + "        return array.T[::-1]", "chunk_round_trip"),
    (TO_ARRAY, DECODE_ARRAY + "        return array.T", DECODE_ARRAY + "        return array.reshape(decoded.shape)", "chunk_round_trip"),
    (TO_ARRAY, ENCODE_ARRAY, ENCODE_ARRAY + "        array[...] = array * 0\n", "chunk_round_trip"),
    (TO_ARRAY, ENCODE_ARRAY, ENCODE_ARRAY + "        array = array.ravel('K').reshape(array.shape)\n", "memory_layout_round_trip"),
    (TO_ARRAY, ENCODE_ARRAY, ENCODE_ARRAY + SLOWLY, "thread_safety"),
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


def failed_tests(pytester, kind, number, old, new, only=""):
    """Names of the tests that fail for a distribution, or a codec of arrays, with that mistake."""
    if kind in SOURCES:
        return failed_tests_of_arrays(pytester, kind, number, old, new, only)
    name = f"mutant-m{number}" if kind in ("store", "format") else f"mutant.m{number}"
    folder = new_distribution(kind, name, pytester.path)
    package = f"mutant_m{number}"
    source = folder / "src" / package
    changed = 0
    for file in source.rglob("*.*"):
        text = file.read_text()
        changed += text.count(old)
        file.write_text(text.replace(old, new))
    assert changed or not old, "the template has changed: nothing is replaced"
    module = source / "__init__.py"
    module.write_text(module.read_text() + "\n\nSHARED = bytearray()\n")
    install(folder)
    pytester.syspathinsert(folder / "src")
    test = folder / "tests" / f"test_{package}.py"
    discovery.refresh()
    try:
        return planted_mistakes.failed_tests(pytester, test, package, only)
    finally:
        discovery.refresh()


def failed_tests_of_arrays(pytester, kind, number, old, new, only):
    kit, source = SOURCES[kind]
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


def install(folder):
    """Write what an installer would: name and entry points, beside the package."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    information = folder / "src" / f"{folder.name.replace('-', '_')}-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: {project['name']}\nVersion: 0.1.0\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (information / "entry_points.txt").write_text("\n".join(lines))


def numbers():
    """The numbers of the mutants; further ones for the same test of a kit are slow."""
    seen = set()
    for number, (kind, _, _, expected) in enumerate(MUTANTS):
        marks = [pytest.mark.slow] * ((kind, expected) in seen and kind not in SOURCES)
        seen.add((kind, expected))
        yield pytest.param(number, marks=marks, id=f"{kind}-{number}-{expected}")


@pytest.mark.parametrize("number", [*numbers()])
def test_planted_mistake_is_found(number, pytester):
    kind, old, new, expected = MUTANTS[number]
    assert expected in failed_tests(pytester, kind, number, old, new, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({mutant[0] for mutant in MUTANTS}))
def test_unchanged_template_passes(kind, pytester):
    assert failed_tests(pytester, kind, f"good{len(kind)}", "", "") == set()
