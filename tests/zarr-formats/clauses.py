"""Tables of the requirements of a specification, with the tests of each."""

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
KIT = TESTS.parent / "packages" / "zarr-conformance" / "src" / "zarr_conformance" / "kit"
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "must", "must not", "should", "may")


@dataclass(frozen=True)
class Clause:
    """One requirement of a specification.

    ``id`` is stable; ``section`` is the heading in the specification; ``level`` is the keyword
    of RFC 2119; ``text`` paraphrases the requirement; ``tests`` are names such as
    ``"test_v2_paths.py::test_dots"``, of files in any folder of tests.
    """

    id: str
    section: str
    level: str
    text: str
    tests: tuple[str, ...]


def faults(clauses: list[Clause]) -> list[str]:
    """The problems of a table: rows without tests, tests that do not exist, repeated ids."""
    found = [
        f"{name}: is there twice" for name, n in Counter(c.id for c in clauses).items() if n > 1
    ]
    for clause in clauses:
        if clause.level not in LEVELS:
            found.append(f"{clause.id}: no such level as {clause.level!r}")
        if not clause.tests:
            found.append(f"{clause.id}: no test covers it")
        if not clause.text.endswith("."):
            found.append(f"{clause.id}: is not said in a sentence")
        found += [
            f"{clause.id}: there is no {test}"
            for test in clause.tests
            if test.partition("::")[2] not in tests_in(test.partition("::")[0])
        ]
    return found


@cache
def tests_in(file: str) -> frozenset[str]:
    """Names of the tests in a file; methods are preceded by the class."""
    paths = [path for place in (TESTS, KIT) for path in place.rglob(file) if path.name == file]
    if len(paths) != 1:
        return frozenset()
    names = set()
    for node in ast.parse(paths[0].read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}::{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test_")
            }
    return frozenset(names)
