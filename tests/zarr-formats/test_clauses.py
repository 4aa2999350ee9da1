"""The check of the tables finds their problems."""

from clauses import Clause, faults

HERE = "test_clauses.py::test_a_good_table"


def test_a_good_table():
    assert faults([Clause("a", "b", "MUST", "It is so.", (HERE,))]) == []


def test_rows_without_tests():
    assert faults([Clause("a", "b", "MUST", "It is so.", ())]) == ["a: no test covers it"]


def test_tests_that_do_not_exist():
    rows = [
        Clause("a", "b", "MUST", "It is so.", (HERE, "test_clauses.py::test_nothing", "no.py::x"))
    ]
    assert faults(rows) == [
        "a: there is no test_clauses.py::test_nothing",
        "a: there is no no.py::x",
    ]


def test_ids_that_are_there_twice():
    row = Clause("a", "b", "SHOULD", "It is so.", (HERE,))
    assert faults([row, row]) == ["a: is there twice"]


def test_unknown_levels_and_fragments():
    assert len(faults([Clause("a", "b", "COULD", "so", (HERE,))])) == 2
