"""Write the page about what happens with a name, from the tables that are tested.

The tables stand in ``tests/registry_rules``; every line of them is a test.

Run it without arguments to write the page, with ``--check`` to learn whether it is in step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "registry_rules"
PAGE = ROOT / "docs" / "what-happens-with-a-name.md"

WORDS = {
    "UnknownExtensionError": "unknown",
    "UnsupportedFieldError": "unsupported",
    "MetadataValidationError": "invalid",
    "ExtensionLoadError": "load error",
    "ExtensionConflictError": "conflict",
    "ExtensionConfigurationError": "refused",
    "left out": "left out",
    "warned": "warning",
    "ignored": "ignored",
    "works": "works",
}
MEANINGS = {
    "unknown": "`UnknownExtensionError`: says the kind, the name, the node, the place in the "
    "document, similar names, and what to install",
    "unsupported": "`UnsupportedFieldError`: the same, for a member of the document",
    "invalid": "`MetadataValidationError`: the document says what no document may",
    "load error": "`ExtensionLoadError`: says the distribution, its version, the class and the cause",
    "conflict": "`ExtensionConflictError`: says the distributions, and the line that chooses",
    "refused": "`ExtensionConfigurationError`: says each wrong member with its place in the document",
    "left out": "the array opens, is read without it, and cannot be written; a warning says so once",
    "warning": "it is left out, and a warning names the distribution; all else works",
    "ignored": "all else works; members of a document are kept",
    "works": "the extension is used; the core's, if it has one of this name",
}
SAID = (  # kind, case: a message of each sort
    ("codec", "unknown"),
    ("codec", "unknown, optional"),
    ("data_type", "unknown, optional"),
    ("extension", "unknown"),
    ("codec", "switched off"),
    ("codec", "raises"),
    ("codec", "exits"),
    ("codec", "syntax"),
    ("codec", "no module"),
    ("codec", "no attribute"),
    ("codec", "wrong class"),
    ("codec", "two"),
    ("codec", "absent is chosen"),
    ("codec", "schema"),
    ("codec", "code"),
    ("hooks", "misspelt"),
    ("hooks", "fails"),
)

INTRODUCTION = """\
# What happens with a name

<!-- Made by scripts/document_rules.py from tests/registry_rules; do not edit by hand. -->

A document names extensions; [the rule](extension-points.md#how-a-name-becomes-code) turns names
into code. This page shows what comes of it when something is the matter. Every cell below is a
test, run with distributions that are really installed.

Three sentences hold throughout. **Unknown** may be left out, if the kind and the document allow it.
**Broken, ambiguous or misconfigured** is always an error, whatever `must_understand` says. And it
concerns **that name alone**: all others work, and nothing is imported that is not used.
"""


def rows(name: str) -> list[list[str]]:
    """Read the cells of a table; comments and empty lines are left out."""
    lines = (TABLES / name).read_text().splitlines()
    return [
        [cell.strip() for cell in line.split("|")]
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def page() -> str:
    """Put the whole page together."""
    rules = rows("rules.txt")
    said = {(kind, case): text for format_, kind, case, _, text in rules if format_ == "v3"}
    cases = dict(rows("cases.txt"))
    legend = [[f"*{word}*", meaning] for word, meaning in MEANINGS.items()]
    return "\n".join(
        [
            INTRODUCTION,
            *_table(["", "means"], legend),
            "",
            "## Version 3",
            "",
            "Versions 1 and 2 and N5 have no flags; for them, the lines without "
            "`must_understand` hold.",
            "",
            *_matrix([rule[1:4] for rule in rules if rule[0] == "v3"], cases),
            "",
            "Where several distributions have hooks or bridges, all are called.",
            "",
            "## The draft of December 2022",
            "",
            "Only the entries of `extensions` have a `must_understand`. Names are URIs, for which "
            "there is no file with a schema: the code alone checks their configuration.",
            "",
            *_matrix([rule[1:4] for rule in rules if rule[0] == "draft"], cases),
            "",
            "A data type may name others as `fallback`. They are for a type that is unknown, never "
            "for one that is broken. The setting `fallback` decides whether they are used, the "
            "hook `zarr_choose_fallback` which one; an array that is read as a fallback cannot be "
            "written.",
            "",
            *_table(
                ["the type is", "fallbacks", "`fallback=`", "the hook chooses", "outcome"],
                [
                    [
                        type_,
                        _code(names),
                        _code(f'"{policy}"'),
                        _code(choice),
                        _outcome(outcome, text),
                    ]
                    for type_, names, policy, choice, outcome, text in rows("fallbacks.txt")
                ],
            ),
            "",
            "## What is said",
            "",
            "The part of the message that says what is wrong; before it stand the store, the node "
            "and the place in the document, after it what to do.",
            "",
            *_table(
                ["kind", "when", "message"],
                [
                    [
                        _code(kind),
                        cases[case].replace("the same", "nobody provides it"),
                        _code(text),
                    ]
                    for kind, case in SAID
                    if (text := said[kind, case])
                ],
            ),
            "",
            "## What an array still does",
            "",
            "With an unknown codec that is *left out*, with an unknown member that is *ignored*, "
            "and with a codec that is *known*, although the document says that it need not be.",
            "",
            *_table(["", "left out", "ignored", "known"], rows("left_out.txt")),
            "",
        ]
    )


def _matrix(rules: list[list[str]], cases: dict[str, str]) -> list[str]:
    """Cases against kinds; kinds of which the same holds share a column."""
    cells = {(kind, case): WORDS[outcome] for kind, case, outcome in rules}
    columns: dict[tuple[str, ...], list[str]] = {}
    for kind in dict.fromkeys(kind for kind, _, _ in rules):
        columns.setdefault(tuple(cells.get((kind, case), "-") for case in cases), []).append(kind)
    lines = zip(cases.values(), zip(*columns, strict=True), strict=True)
    return _table(
        ["", *(", ".join(map(_code, kinds)) for kinds in columns.values())],
        [[sentence, *line] for sentence, line in lines if set(line) != {"-"}],
    )


def _outcome(outcome: str, text: str) -> str:
    if outcome.startswith("read as"):
        return outcome + (", and said once" if text else "")
    return WORDS[outcome]


def _code(text: str) -> str:
    return text if text == "-" else f"`{text}`"


def _table(head: list[str], body: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *body]
    return ["| " + " | ".join(line) + " |" for line in lines]


def main() -> int:
    """Write or check, as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if not in step")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is not what the tables say.")
        print("Run: python scripts/document_rules.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
