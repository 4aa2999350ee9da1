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
SELECT = "    @hookimpl\n    def zarr_select_provider(self, providers): return providers[0]\n\n"
SUPPLY = "    @hookimpl\n    def zarr_supply_extension(self, extension_point): return extension_point\n\n"
FALLBACK = "    @hookimpl\n    def zarr_choose_fallback(self, fallbacks): return fallbacks\n\n"
USED = "    @hookimpl\n    def zarr_extension_used(self, provider): provider.module[9]\n\n"

MUTANTS = [
    # kind, what is replaced in the code or the schema, by what, the tests that must fail
    ("codec", TRANSLATE, TRANSLATE.replace("(data)", "(data)[:-1]", 1), "contents_come_back"),
    ("codec", TRANSLATE, TRANSLATE.replace("- self", "+ self"), "chunks_come_back"),
    ("codec", "return decoded_size", "return decoded_size + 1", "contents_come_back"),
    (
        "codec",
        ENCODE,
        ENCODE + '        if type(data) is bytearray: data[:1] = b"x"[: len(data)]\n',
        "any_buffer_is_encoded_and_stays_as_it_is",
    ),
    ("codec", DECODE, DECODE + "        data[-1]\n", "damaged_chunks_are_refused"),
    ("codec", DECODE, DECODE + "        bytes(1 << 26)\n", "damaged_chunks_are_refused"),
    (
        "codec",
        "    def encoded_size",
        "    @property\n    def detects_damage(self): return True\n\n    def encoded_size",
        "damaged_chunks_are_refused",
    ),
    ("codec", ENCODE, ENCODE + SHARED, "threads_may_share_a_codec"),
    (
        "codec",
        "    def encoded_size",
        "    def to_configuration(self): return {'shift': 1}\n\n    def encoded_size",
        "what_is_given_is_what_is_written",
    ),
    ("data-type", "class Mutant", "class Renamed", "it_is_installed"),
    ("codec", '"type": "integer",', '"title": "Number",', "wrong_configurations_are_refused"),
    ("codec", '"maximum": 255', '"maximum": 300', "bad_configurations_are_refused"),
    ("codec", '"shift"],', '"shift", "more"],', "the_schema_accepts_what_is_written"),
    ("data-type", "return int(value)", "return int(value) & 0xFFFF", "fill_values_come_back"),
    ("data-type", "type(value) is not int or", "", "what_is_no_fill_value_is_refused"),
    ("data-type", "slots=True)", "eq=False)", "data_types_compare_by_value"),
    ("data-type", '{"unit": self.unit}', '{"unit": "m"}', "what_is_given_is_what_is_written"),
    ("data-type", 'np.dtype("int32")', 'np.dtype(">i4")', "the_sizes_agree"),
    ("chunk-grid", "((1 << chunk) - 1)", "(1 << chunk)", "chunks_follow_one_another"),
    ("chunk-grid", '"right"', '"left"', "every_element_is_in_its_chunk"),
    ("chunk-grid", ".bit_length(), first", ".bit_length() + 1, first", "chunks_follow_one_another"),
    ("chunk-grid", "frozen=True, slots=True", "eq=False", "grids_compare_by_value"),
    ("chunk-key-encoding", 'return "/".join', 'return "".join', "keys_lead_back_to_their_chunks"),
    ("chunk-key-encoding", 'r"0|[1-9][0-9]*"', 'r"[0-9]+"', "other_keys_are_no_chunks"),
    ("chunk-key-encoding", "len(numbers) != ndim or", "", "other_keys_are_no_chunks"),
    (
        "chunk-key-encoding",
        "    def encode(",
        "    def affixes(self, ndim): return ('tile/', '.')\n\n    def encode(",
        "affixes_make_the_same_keys",
    ),
    ("store", "        if self.read_only:", "        if False:", "read_only"),
    ("store", "        check_prefix(prefix)\n        found", "        found", "bad_prefixes_are_refused"),
    ("store", 'b"".join(buffers)', "bytes(buffers[-1])", "pieces_are_stored_one_after_the_other"),
    ("store", '"delete from items where key = ?"', '"select ?"', "erase"),
    ("store", "substr(key, 1, length(?)) = ?\"\n        return", "instr(key, ?) and ? <> '.'\"\n        return", "list_prefix_ends_at_a_slash"),
    ("store", "    check_key(key)\n", "", "bad_keys_are_refused_by_every_method"),
    ("storage-transformer", "!= stored", "is None", "damaged_values_are_refused"),
    ("storage-transformer", "self.store.set(key,", 'self.store.set("x/" + key,', "nothing_else_is_touched"),
    ("storage-transformer", "self.store.erase(key)", "pass", "the_values_of_chunks_come_back"),
    ("format", CREATE, CREATE + " or True", "a_node_is_made_once"),
    (
        "format",
        CREATE,
        "if new := not store.exists(_key(path)):\n"
        "            store.set(_key(path), self._bytes(metadata))\n        return new",
        "of_several_that_make_a_node_one_succeeds",
    ),
    ("format", CREATE, CREATE + " or True", "the_documents_of_several_are_not_mixed"),
    (
        "format",
        "return metadata.to_json()",
        "return {k: v for k, v in metadata.to_json().items() if k != 'consolidated_metadata'}",
        "copies_of_documents_are_kept_or_refused",
    ),
    ("format", "strictjson.loads(value, where)", "json.loads(value)", "damaged_documents_are_metadata_errors"),
    ("format", "    def unmanaged_key", NO_CHILDREN + "    def unmanaged_key", "groups_have_members"),
    ("format", "return next((key for", "return None and next((key for", "what_is_foreign_is_found"),
    (
        "format",
        "json.dumps(self.to_json(metadata)",
        "json.dumps(self.to_json(metadata) | {'attributes': {}}",
        "documents_come_back_as_they_were",
    ),
    ("extension", 'value = document["', 'value = document.pop("attributes", 0) or document["', "documents_are_left_as_they_are"),
    ("extension", "return []", "return ()", "documents_are_left_as_they_are"),
    ("extension", "            return [", "            return [] and [", "nodes_that_may_not_have_it_are_refused"),
    ("extension", "not self.least <= value", "not value", "contradictions_are_refused"),
    ("extension", 'ValidationProblem("/fill_value"', 'ValidationProblem("fill_value"', "contradictions_are_refused"),
    ("extension", "if self.least > self.greatest", "if False", "bad_configurations_are_refused"),
    ("hooks", "    @hookimpl\n", "", "every_hook_is_marked"),
    ("hooks", "zarr_check_metadata", "zarr_check_metdata", "it_is_installed"),
    ("hooks", 'document.get("dimension_names")', 'document["dimension_names"]', "documents_are_left_as_they_are"),
    ("hooks", ".get(", ".pop(", "documents_are_left_as_they_are"),
    ("hooks", "name is not None and", "", "documents_are_left_as_they_are"),
    ("hooks", "name != name.lower()", "False", "refused_documents_do_not_open"),
    ("hooks", "name != name.lower()", "name.lower()", "accepted_documents_open"),
    ("hooks", HOOK, SELECT + HOOK, "the_order_of_providers_decides_nothing"),
    ("hooks", HOOK, SUPPLY + HOOK, "other_names_are_left_to_others"),
    ("hooks", HOOK, FALLBACK + HOOK, "fallbacks_are_chosen_among_those_given"),
    ("hooks", HOOK, USED + HOOK, "it_may_be_told_of_anything_in_any_thread"),
    ("display", "def html(", "def htm(", "it_is_installed"),
    ("display", "{escape(text)}", "{text}", "names_and_values_are_escaped"),
    ("display", 'escape_controls(repr(shown), keep="\\n")', "repr(shown) + (''.join(shown) if hasattr(shown, 'keys') else '')", "names_and_values_are_escaped"),
    ("display", "text = ", "len(list(shown.store.list())) if hasattr(shown, 'store') else 0; text = ", "arrays_are_shown_without_the_store"),
    ("display", "return Text(repr(shown))", "return Text('')", "rich_prints_tables_and_trees"),
    ("display", "most: int", "cut: int", "chunks_have_a_map"),
    ("bridge", 'distribution="', 'distribution="no-such-', "it_says_who_provides_what"),
    ("bridge", '("crc32",', '("crc32", "crc32",', "it_says_who_provides_what"),
    ("bridge", 'extension_point="codec",', 'extension_point="codec", version=__import__("uuid").uuid4().hex,', "it_says_the_same_each_time"),
    ("bridge", 'f"zlib:{function}"', '__import__("colorsys").__name__ + ":rgb_to_hsv"', "it_imports_nothing_of_it"),
    ("bridge", "return type(", "return found or type(", "what_it_has_to_offer_is_there"),
    ("bridge", "= bytes(data)[:-_SIZE]", "= bytes(data)[-_SIZE:]", "contents_come_back"),
    ("chunk-memory-layout", "return np.flip(array)", "return array + 1", "elements_are_moved_and_nothing_else"),
    ("chunk-memory-layout", "return np.flip(array)", "return np.roll(array, 1)", "chunks_come_back"),
    ("chunk-memory-layout", "frozen=True, slots=True", "eq=False", "layouts_compare_by_value"),
    ("chunk-memory-layout", "if definition.configuration !=", "if ... ==", "wrong_configurations_are_refused"),
]  # fmt: skip


def failed_tests(pytester, kind, number, old, new, only=""):
    """Names of the tests that fail for a distribution with that mistake."""
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


@pytest.mark.parametrize(
    "number", range(len(MUTANTS)), ids=lambda n: f"{MUTANTS[n][0]}-{n}-{MUTANTS[n][3]}"
)
def test_a_mistake_is_found_where_it_is_looked_for(number, pytester):
    kind, old, new, expected = MUTANTS[number]
    assert expected in failed_tests(pytester, kind, number, old, new, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({mutant[0] for mutant in MUTANTS}))
def test_without_a_mistake_nothing_fails(kind, pytester):
    assert failed_tests(pytester, kind, f"good{len(kind)}", "", "") == set()
