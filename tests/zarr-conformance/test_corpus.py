"""The corpus is whole, and the same whenever it is made."""

import filecmp
import json

import pytest
from zarr_conformance.clauses.clause import clauses, read, specifications
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.corpus.case import CATEGORIES, Reject
from zarr_conformance.corpus.encode import checksum, shard


def test_cases_name_clauses_that_are_there():
    assert {it for case in all_cases() for it in case.clauses} <= clauses().keys()


def test_cases_say_what_they_show_in_a_sentence():
    assert [case.id for case in all_cases() if not case.says.endswith(".")] == []


def test_categories_of_refusals():
    refusals = [case.expect for case in all_cases() if isinstance(case.expect, Reject)]
    assert {it.category for it in refusals} <= set(CATEGORIES)
    assert {it.also for it in refusals} <= {"", *CATEGORIES}


def test_the_folder_is_the_same_every_time(tmp_path):
    count = build(tmp_path / "a")
    assert build(tmp_path / "b") == count > 0
    first = (tmp_path / "a" / "manifest.json").read_bytes()
    assert first == (tmp_path / "b" / "manifest.json").read_bytes()
    assert len(json.loads(first)["cases"]) == count
    compared = filecmp.dircmp(tmp_path / "a", tmp_path / "b")
    assert compared.left_only == compared.right_only == []


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(FileExistsError):
        build(tmp_path)


def test_checksum_of_the_rfc():
    assert checksum(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert checksum(b"\xff" * 32) == 0x62A8AB43


def test_shard_of_one_inner_chunk():
    assert shard({1: b"ab"}, 2, checked=False) == b"ab" + b"\xff" * 16 + bytes(8) + b"\2" + bytes(7)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ('id = "other.a"\nlevel = "must"\ntext = "It is."', "an id is"),
        ('id = "spec.a"\nlevel = "shall"\ntext = "It is."', "no such level"),
        ('id = "spec.a"\nlevel = "must"\ntext = "It is"', "sentence"),
    ],
)
def test_a_wrong_clause_is_told(entry, wrong):
    with pytest.raises(ValueError, match=wrong):
        read("spec", f'title = "t"\nurl = "u"\n[[clause]]\nsection = "s"\n{entry}\n')


def test_every_text_has_clauses():
    assert all(text.clauses for text in specifications().values())
