"""Clauses and cases are valid and complete; the encoders of the corpus agree with others."""

import re
import tomllib
from pathlib import Path

import pytest
from zarr_conformance.clauses.clause import clauses, parse_specification, specifications
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.corpus.case import CATEGORIES, Reject
from zarr_conformance.corpus.ext_zstd import xxh64
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


def test_build_needs_an_empty_directory(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(FileExistsError):
        build(tmp_path)


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


def test_xxh64():
    # Test vectors of the reference implementation of xxHash.
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999
    assert xxh64(b"abcdefg") == 0x1860940E2902822D


LISTED = tomllib.loads(
    Path(__file__).with_name("normative_sentences.toml").read_text("utf-8")
)  # fmt: skip


def lines(text):
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


def sentences(name):
    """Return the places of all sentences with key words."""
    texts = {file: places for file, places in LISTED[name].items() if file != "commit"}
    return [(file, lines(place)) for file, places in texts.items() for place in places]


def exceptions(specification):
    """Return the places of the sentences that are not clauses, with the reason."""
    return {
        (file, lines(place)): reason
        for reason, places in specification.without_clause.items()
        for file, _, place in (it.partition("#L") for it in places)
    }


@pytest.mark.parametrize("name", specifications())
def test_sentences_with_key_words_have_clauses(name):
    specification = specifications()[name]
    clauses = [(specification.file(it), lines(it.lines)) for it in specification.clauses]
    without = exceptions(specification)
    missing = [
        (file, place)
        for file, place in sentences(name)
        if not any(it == file and overlap(place, found) for it, found in [*clauses, *without])
    ]
    assert missing == []


@pytest.mark.parametrize("name", specifications())
def test_exceptions_are_sentences_without_clauses(name):
    specification = specifications()[name]
    found = sentences(name)
    unknown = [
        (file, place)
        for file, place in exceptions(specification)
        if not any(it == file and overlap(place, other) for it, other in found)
    ]
    assert unknown == []
    assert all(it.endswith(".") for it in specification.without_clause)


@pytest.mark.parametrize("name", specifications())
def test_the_list_is_that_of_the_pinned_commit(name):
    """After a change of the commit: python scripts/list_normative_sentences.py."""
    specification = specifications()[name]
    assert LISTED[name]["commit"] == specification.commit
    assert LISTED[name].keys() - {"commit"} == {
        specification.file(it) for it in specification.clauses
    }
