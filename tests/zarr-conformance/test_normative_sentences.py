"""Each sentence of the specifications with a key word has a clause, or a reason why not."""

import tomllib
from pathlib import Path

import pytest
from zarr_conformance.clauses.clause import specifications

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
