"""Every requirement of version 2 has a test."""

from clauses import faults
from clauses_v2 import CLAUSES


def test_every_clause_is_covered():
    assert faults(CLAUSES) == []


def test_the_text_is_all_there():
    # Counted in the text: the keywords of RFC 2119; lists by their items.
    levels = [clause.level.upper() for clause in CLAUSES]
    assert len(levels) == 35
    assert levels.count("MUST NOT") == levels.count("SHOULD NOT") == 1
