"""Clauses and cases are valid and complete, and the corpus is reproducible."""

import filecmp
import json
import re

import pytest
from zarr_conformance.checksum import checksum
from zarr_conformance.clauses.clause import clauses, parse_specification, specifications
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.corpus.case import CATEGORIES, Reject
from zarr_conformance.corpus.encode import shard
from zarr_conformance.report.coverage import coverage

# The draft requires a form of extensions, but no such extension exists.
WITHOUT_POSITIVE_CASE = {
    "v3-draft.other-encoding-object",
    "v3-draft.other-encoding-uri",
    "v3-draft.grid-extension-object",
    "v3-draft.layout-extension-object",
    "v3-draft.transformer-required",
}


HEAD = f"""title = "t"
url = "u"
repository = "o/r"
commit = "{"a" * 40}"
[sections]
"s" = "docs/index.rst#L3"
"""


def test_cases_refer_to_clauses():
    assert {it for case in all_cases() for it in case.clauses} <= clauses().keys()


def test_summaries_of_cases_end_with_a_period():
    assert [case.id for case in all_cases() if not case.summary.endswith(".")] == []


def test_categories_of_expected_errors():
    errors = [case.expect for case in all_cases() if isinstance(case.expect, Reject)]
    assert {it.category for it in errors} <= set(CATEGORIES)
    assert {it.also for it in errors} <= {"", *CATEGORIES}


def test_build_is_reproducible(tmp_path):
    some = tuple(all_cases())[::20]  # test_archive.py packs all of them twice
    count = build(tmp_path / "a", some)
    assert build(tmp_path / "b", some) == count == len(some)
    first = (tmp_path / "a" / "cases.json").read_bytes()
    assert first == (tmp_path / "b" / "cases.json").read_bytes()
    assert len(json.loads(first)["cases"]) == count
    compared = filecmp.dircmp(tmp_path / "a", tmp_path / "b")
    assert compared.left_only == compared.right_only == []


def test_build_needs_an_empty_directory(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(FileExistsError):
        build(tmp_path)


def test_crc32c_of_the_rfc():
    assert checksum(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert checksum(b"\xff" * 32) == 0x62A8AB43


def test_shard_with_one_inner_chunk():
    assert shard({1: b"ab"}, 2, checked=False) == b"ab" + b"\xff" * 16 + bytes(8) + b"\2" + bytes(7)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('id = "other.a"\nlevel = "must"\ntext = "It is."\nlines = "3"', "id must be"),
        ('id = "spec.a"\nlevel = "shall"\ntext = "It is."\nlines = "3"', "unknown level"),
        (
            'id = "spec.a"\nlevel = "must"\ntext = "It is"\nlines = "3"',
            "text must end with a period",
        ),
        ('id = "spec.a"\nlevel = "must"\ntext = "It is."\nlines = "L3"', "lines must be"),
        (
            'id = "spec.a"\nlevel = "must"\ntext = "It is."\nlines = "3"\nuntested = "Why"',
            "untested must be a sentence",
        ),
    ],
)
def test_invalid_clauses_raise(entry, message):
    with pytest.raises(ValueError, match=message):
        parse_specification("spec", f'{HEAD}[[clause]]\nsection = "s"\n{entry}\n')


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD.replace("a" * 40, "main"), "commit must be 40 hexadecimal digits"),
        (HEAD.replace('"s" =', '"other" ='), "no place for the section 's'"),
    ],
)
def test_texts_are_pinned(head, message):
    clause = (
        '[[clause]]\nid = "spec.a"\nsection = "s"\nlevel = "must"\ntext = "It is."\nlines = "4-5"\n'
    )
    found = parse_specification("spec", HEAD + clause)
    assert found.link(found.clauses[0]) == (
        f"https://github.com/o/r/blob/{'a' * 40}/docs/index.rst?plain=1#L4-L5"
    )
    with pytest.raises(ValueError, match=message):
        parse_specification("spec", head + clause)


def test_specifications_have_clauses():
    assert all(it.clauses for it in specifications().values())


def test_key_words_in_texts_agree_with_levels():
    words = {it.id: set(re.findall(r"\b(must|should|may)\b", it.text)) for it in clauses().values()}
    levels = {it.id: it.level.partition(" ")[0] for it in clauses().values()}
    assert [name for name, found in words.items() if found and levels[name] not in found] == []


def test_tested_clauses_have_positive_and_negative_cases():
    gaps = {(name, gap) for name, it in coverage(all_cases()).items() for gap in it.gaps}
    assert gaps == {(name, "positive") for name in WITHOUT_POSITIVE_CASE}


def test_untested_clauses_have_no_cases():
    untested = [it for it in coverage(all_cases()).values() if not it.clause.tested]
    assert [it for it in untested if it.positive or it.negative or it.open] == []
