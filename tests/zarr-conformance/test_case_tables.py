"""Rows of TOML files become cases, as writing-a-case.md of zarr-conformance describes."""

import gzip
import re
import tomllib
from pathlib import Path

import pytest
from zarr_conformance.checksum import checksum
from zarr_conformance.corpus import case_tables
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import array, array_1, array_2, group, regular

PAGE = Path(__file__).parents[2] / "packages" / "zarr-conformance" / "writing-a-case.md"
ONE = b"\1\0\0\0"


@pytest.fixture
def cases(monkeypatch):
    """A function that returns the cases of a file; members that all cases need may be omitted."""
    constants = case_tables._read("constants")

    def read(text, **arguments):
        plain = 'id = "spec/topic/name"\nclauses = ["spec.a"]\nsummary = "It is."\n'
        plain += "" if re.search("expect|values", text) else "expect.accept = {}\n"
        file = tomllib.loads(text.replace("[[case]]\n", f"[[case]]\n{plain}"))
        monkeypatch.setattr(
            case_tables, "_read", lambda topic: constants if topic == "constants" else file
        )
        return list(case_tables.table_cases("topic", **arguments))

    return read


@pytest.fixture(scope="module")
def corpus():
    return {case.id: case for case in all_cases()}


def test_examples_of_the_page(corpus, cases):
    examples = [
        case
        for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.S)
        for case in cases(text)
    ]
    assert [case.id for case in examples if corpus.get(case.id) == case] == [
        "v3-core/array/dimension-names",
        "v3-core/array/shape-number",
    ]
    assert examples[-1].summary == "fill_value of array metadata cannot be null."
    assert examples[-1].expect == Either(Node("array"))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ('"text"', b"text"),
        ('{ hex = "01 ff" }', b"\1\xff"),
        ("{ zeros = 3 }", bytes(3)),
        ("{ json = [1] }", document([1])),
        ("{ array = { shape = [0] } }", document(array(shape=[0]))),
        ('{ group = { attributes = "$null" } }', document(group(attributes=None))),
        ("{ int32 = [1] }", ONE),
        ('{ ">i4" = [[1]] }', ONE[::-1]),
        ("{ uint8 = { range = [0, 6, 2], shape = [3, 1] } }", b"\0\2\4"),
        ("{ complex64 = [[0, 1]] }", b"\0\0\0\0\0\0\x80?"),
        ('{ pack = "<Bi", rows = [[2, 1]] }', b"\2" + ONE),
        ("{ crc32c = { int32 = [1] } }", ONE + checksum(ONE).to_bytes(4, "little")),
        ('{ utf-16 = "a" }', "a".encode("utf-16")),
        ('{ cut = "text", length = 1 }', b"tex"),
        ('{ join = ["a", { zeros = 1 }] }', b"a\0"),
        ('"$values"', b"\7\0"),
        ('{ own = "ab" }', b"ba"),
    ],
)
def test_stored_values(cases, value, stored):
    text = f'[[case]]\nvalues = {{ int16 = 7 }}\narray = {{}}\nstore."c" = {value}\n'
    (case,) = cases(text, encoders={"own": lambda text: text[::-1].encode()})
    assert case.store["c"] == stored


def test_gzip_and_shards(cases):
    (case,) = cases(
        """[[case]]
        group = {}
        store.gzip = { gzip = "text", level = 1 }
        store.shard = { shard = { 1 = "ab" }, count = 2, checked = false }
        """
    )
    assert gzip.decompress(case.store["gzip"]) == b"text"
    assert case.store["shard"] == b"ab" + b"\xff" * 16 + bytes(8) + b"\2" + bytes(7)


@pytest.mark.parametrize(
    ("members", "key", "metadata"),
    [
        ("array = {}", "zarr.json", array()),
        ('path = "a"\ngroup = {}', "a/zarr.json", group()),
        ('array.codecs = "$omitted"', "zarr.json", array(codecs=case_tables.OMITTED)),
        ("array.chunk_shape = [4]", "zarr.json", array(chunk_grid=regular(4))),
        (
            "values = { int8 = [1, 2, 3] }\narray.fill_value = 1",
            "zarr.json",
            array(shape=[3], data_type="int8", chunk_grid=regular(3), fill_value=1),
        ),
        ('zarr_format = 2\npath = "a"\narray = {}', "a/.zarray", array_2()),
        ("zarr_format = 2\ngroup = {}", ".zgroup", {"zarr_format": 2}),
        ("zarr_format = 1\narray = {}", "meta", array_1()),
        ("zarr_format = 0\ngroup = {}", "meta/group.json", {"attributes": {}}),
    ],
)
def test_metadata_documents(cases, members, key, metadata):
    (case,) = cases(f"[[case]]\n{members}\n")
    assert case.store[key] == document(metadata)
    assert ("zarr.json" in case.store) == (case.zarr_format in (0, 3) and not case.path)


@pytest.mark.parametrize(
    ("members", "expect"),
    [
        ("", Accept(Node(values=Values(b"\1")))),
        ('expect.reject = "chunk"', Reject("chunk")),
        ('expect.reject = ["metadata", "extension"]', Reject("metadata", "extension")),
        ("expect.either.shape = []", Either(Node(shape=()))),
        ('expect.accept.values.list = ["a"]', Accept(Node(values=Values(b'["a"]', "json")))),
        ('expect.accept.stored."c/0" = "$values"', Accept(Node(stored={"c/0": b"\1"}))),
        (
            "expect.accept.documents = { a = { group = {} }, b = { shape = [1] } }",
            Accept(Node(documents={"a": group(), "b": {"shape": [1]}})),
        ),
    ],
)
def test_expected_results(cases, members, expect):
    (case,) = cases(f"[[case]]\nvalues = {{ int8 = [1] }}\narray = {{}}\n{members}\n")
    assert case.expect == expect


def test_metadata_to_create(cases):
    (case,) = cases('[[case]]\noperation = "create"\ngroup = {}\nstore.a = "b"\n')
    assert case.document == group()
    assert case.store == {"a": b"b"}


def test_round_trip(cases):
    read, created = cases(
        '[[case]]\nvalues = { int8 = [1] }\narray = {}\nround_trip."c/0" = "$values"\n'
    )
    assert (read.id, read.operation) == ("spec/topic/name-read", "read")
    assert read.store["c/0"] == b"\1"
    assert (created.id, created.operation) == ("spec/topic/name-created", "create")
    assert created.expect == Accept(Node(values=Values(b"\1"), stored={"c/0": b"\1"}))
    assert created.document["data_type"] == "int8"


def test_rows_and_templates(cases):
    first, second, third, fourth = cases(
        """[constants]
        two = 2
        [defaults]
        clauses = ["spec.{clause}", "{more}"]
        store = { kept = "" }
        [[table]]
        expect.reject = "metadata"
        needs = "{needs}"
        columns = ["name", "value", "more", "needs"]
        rows = [["a_b", "$two"], ["c", "text", "spec.d", ["codec:e"], { expect.reject = "chunk" }]]
        [[table.cases]]
        id = "{name!d}"
        summary = "{value!j} of {name!r}."
        array."{name}" = "{value}"
        [[table.cases]]
        id = "{name}-other"
        summary = "It is {value}."
        store."{name}" = { hex = "0{number}" }
        """,
        cells={"clause": "b", "number": 1},
    )
    assert [case.id for case in (first, second, third, fourth)] == [
        "a-b",
        "a_b-other",
        "c",
        "c-other",
    ]
    assert [first.summary, third.summary] == ["2 of 'a_b'.", "\"text\" of 'c'."]
    assert first.store == {"zarr.json": document(array(a_b=2)), "kept": b""}
    assert fourth.store == {"kept": b"", "c": b"\1"}
    assert [first.clauses, third.clauses] == [("spec.b",), ("spec.b", "spec.d")]
    assert [first.needs, third.needs] == [(), ("codec:e",)]
    assert [first.expect, fourth.expect] == [Reject("metadata"), Reject("chunk")]


@pytest.mark.parametrize(
    "members",
    [
        'array = "$nothing"',
        "nothing = 1",
        "store.a = { nothing = 1 }",
        "expect.nothing = {}",
        "expect.accept.nothing = 1",
        'expect.accept.values = "$values"',
        'columns = ["a"]\nrows = [[1]]\npath = "{b}"',
    ],
)
def test_invalid_rows_raise(cases, members):
    with pytest.raises(
        ValueError, match=r"topic\.toml: spec/topic/name: .*(nothing|'b'|no values)"
    ):
        cases(f"[[case]]\n{members}\n")
