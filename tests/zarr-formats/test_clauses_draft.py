"""Every requirement of the draft of December 2022 has a test."""

from clauses import faults
from clauses_draft import CLAUSES


def test_every_clause_is_covered():
    assert faults(CLAUSES) == []


def test_the_text_is_all_there():
    # Counted in the text, demands of one thing together: the words that RFC 2119 gives a
    # meaning, in chapters 1.1.3 to 1.1.15, 2.2, 2.3, 3 and 4; what is addressed to authors
    # of specifications, or says what is possible in general, left out.
    levels = [clause.level for clause in CLAUSES]
    assert levels.count("must not") == 8
    assert (levels.count("should"), levels.count("SHOULD NOT")) == (15, 1)
