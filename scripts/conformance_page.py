"""The page about what implementations do: its words, its tables."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from zarr_conformance.clauses.clause import Clause, clauses, specifications
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.reporting.coverage import Coverage, coverage
from zarr_conformance.reporting.summary import STRENGTHS, strength

WORDS = Path(__file__).with_name("conformance_page.md")
READ = Path(__file__).with_name("conformance_findings.toml")

ORDER = (
    "zarr-core",
    "zarr-python",
    "zarrs-python",
    "zarrista",
    "tensorstore",
    "zarrita.js",
    "simplezarr",
    "z5py",
    "zarr-metadata",
    "zarr-python 3.1.6",
    "zarr-python-2",
)
"""Implementations as they stand in tables."""

TEXTS = {
    "Version 3.1": ("v3-core", "v3-data-types", "v3-chunks", "v3-codecs"),
    "Registered extensions": ("ext-codecs", "ext-data-types", "ext-grids", "ext-key-encodings"),
    "Version 2": ("v2",),
    "Draft of 2022": ("v3-draft",),
}

_E = "v3-core/extensions"
PROBE = (
    ("an unknown codec is refused", f"{_E}/codecs/unknown-object"),
    ("... is ignored with `must_understand` false", f"{_E}/codecs/unknown-must-understand-false"),
    ("a known codec with `must_understand` false", f"{_E}/codecs/known-must-understand-false"),
    ("a codec given by its name alone", f"{_E}/codecs/short-hand"),
    ("a key encoding given by its name alone", f"{_E}/chunk-key-encoding/short-hand"),
    ("an unknown data type is refused", f"{_E}/data-type/unknown-name"),
    ("... though it says `must_understand` false", f"{_E}/data-type/unknown-must-understand-false"),
    ("... likewise a chunk grid", f"{_E}/chunk-grid/unknown-must-understand-false"),
    ("... a chunk key encoding", f"{_E}/chunk-key-encoding/unknown-must-understand-false"),
    ("an unknown storage transformer is refused", f"{_E}/storage-transformers/unknown-object"),
    (
        "... is ignored with `must_understand` false",
        f"{_E}/storage-transformers/unknown-must-understand-false",
    ),
    ("an unknown member of an array is refused", f"{_E}/array-member/object"),
    ("... is ignored with `must_understand` false", f"{_E}/array-member/must-understand-false"),
    ("an unknown member of a group is refused", f"{_E}/group-member/object"),
    ("... is ignored with `must_understand` false", f"{_E}/group-member/must-understand-false"),
    ("a further member beside `name` is refused", f"{_E}/codecs/further-member"),
    ("a codec named by a URI is refused as unknown", f"{_E}/naming/uri"),
    ("raw bits, `r16`", "v3-data-types/raw/r16"),
    ("`r24`", "v3-data-types/raw/r24"),
    ("`bfloat16`", "ext-data-types/bfloat16/little-endian"),
    ("`struct`", "ext-data-types/struct/little-endian"),
    ("`int32` without a byte order is refused", "v3-data-types/int32/no-endian"),
    ("shuffling blosc without `typesize` is refused", "v3-codecs/blosc/no-typesize-missing"),
    ("chunks of length 0 are refused", "v3-chunks/regular/chunk-shape-zero"),
    ("`bytes` behind a compressor is refused", "v3-codecs/chain/no-bytes-behind-compressor"),
    ('`transpose` of order "C" is refused', "v3-codecs/transpose/no-order-letter-c"),
    ("inner chunks that do not divide are refused", "v3-codecs/sharding/no-chunk-shape-not-dividing"),
    ("a compressed index of shards is refused", "v3-codecs/sharding/no-index-codecs-gzip"),
    ("a document without `codecs` is refused", "v3-core/array/without-codecs"),
    ("... without `fill_value`", "v3-core/array/without-fill-value"),
    ("no node is made that is called `__foo`", "v3-core/names/reserved-created"),
    ("no node is made that is called `...`", "v3-core/names/three-periods-created"),
)  # fmt: skip
"""Questions that implementers ask, each with the case that answers it."""

_MARKS = {"pass": "yes", "fail": "**no**", "crash": "**crash**", "unsupported": "-"}


def page(told: dict[str, Any]) -> str:
    """The whole page.

    Parameters
    ----------
    told : JSON
        What ``docs/conformance.json`` holds.
    """
    runs = told["runs"]
    cases = {case.id: case for case in all_cases()}
    parts = {
        "date": told["date"],
        "count": f"{told['cases']:,}",
        "names": ", ".join(_named(it) for it in runs),
        "clauses": str(len(clauses())),
        "coverage": _lines(_coverage(coverage(cases.values()))),
        "passed": _lines(_passed(runs)),
        "probe": _lines(_probe(runs)),
        "findings": "\n\n".join(_findings(it, cases) for it in runs),
        "gaps": _lines(_gaps(coverage(cases.values()))),
    }
    text = WORDS.read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


def _named(run: dict[str, Any]) -> str:
    name, version = run["name"], run["version"]
    return str(name) if name.endswith(version) else f"{name} {version}"


def _lines(table: list[list[str]]) -> str:
    head, *body = table
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(it) + " |" for it in lines)


def _coverage(covered: dict[str, Coverage]) -> list[list[str]]:
    table = [["text", "clauses", "judged", "something works", "something is refused", "cases"]]
    for text in specifications().values():
        mine = [covered[it.id] for it in text.clauses]
        judged = [it for it in mine if it.clause.judged]
        refusals = [it for it in judged if it.clause.negative]
        worked = sum(1 for it in judged if "positive" not in it.gaps)
        refused = sum(1 for it in refusals if "negative" not in it.gaps)
        shown = {name for it in mine for name in (*it.positive, *it.negative, *it.open)}
        table.append([
            f"[{text.title}]({text.url})", str(len(mine)), str(len(judged)),
            f"{worked} of {len(judged)}", f"{refused} of {len(refusals)}", str(len(shown)),
        ])  # fmt: skip
    return table


def _gaps(covered: dict[str, Coverage]) -> list[list[str]]:
    rows = [
        [f"`{name}`", it.clause.text, " ".join(it.gaps)] for name, it in covered.items() if it.gaps
    ]
    return [["clause", "", "has no case that is"], *rows]


def _passed(runs: list[dict[str, Any]]) -> list[list[str]]:
    table = [["", *TEXTS, "cases that pass", "fail", "crash", "not supported"]]
    for run in runs:
        cells = []
        for texts in TEXTS.values():
            found = []
            for group in STRENGTHS:
                passed, judged = (sum(run["clauses"][it][group][n] for it in texts) for n in (0, 1))
                found.append(f"{passed}/{judged}")
            cells.append("-" if found == ["0/0"] * 3 else " · ".join(found))
        grades: Counter[str] = Counter()
        for it in run["cases"].values():
            grades.update(it)
        counts = [str(grades[it]) for it in ("pass", "fail", "crash", "unsupported")]
        table.append([_named(run), *cells, *counts])
    return table


def _probe(runs: list[dict[str, Any]]) -> list[list[str]]:
    runs = [it for it in runs if set(it["probe"].values()) != {"unsupported"}]
    table = [["", *(it["name"] for it in runs)]]
    table += [[says, *(_MARKS[it["probe"][case]] for it in runs)] for says, case in PROBE]
    return table


def kinds(run: dict[str, Any], cases: dict[str, Any]) -> dict[tuple[Clause, str], list[str]]:
    """The failures of one implementation by their kinds: the clause, and what came.

    Parameters
    ----------
    run : JSON
        One of the runs of ``docs/conformance.json``.
    cases : mapping of str to Case
        By id.
    """
    found: dict[tuple[Clause, str], list[str]] = {}
    for came, wrong in run["wrong"].items():
        for name in wrong:
            if name not in cases:
                raise SystemExit(f"there is no case {name} any more: run again, then --keep")
            if came != "lacking":
                found.setdefault((_strongest(cases[name]), came), []).append(name)
    return found


def _findings(run: dict[str, Any], cases: dict[str, Any]) -> str:
    title = f"### {_named(run)}"
    if not run["wrong"]:
        return f"{title}\n\nNothing."
    read = tomllib.loads(READ.read_text("utf-8"))
    table = [["", "section", "clause", "what came, and why that is a failure", "cases", "example"]]
    found = kinds(run, cases)
    for clause, came in sorted(found, key=lambda it: (it[0].specification, it[0].section, it[1])):
        names = found[clause, came]
        if came not in read.get(clause.id, {}):
            raise SystemExit(
                f"{clause.id}, {came} ({names[0]}): read the text, then say why in {READ.name}"
            )
        example = f"`{names[0]}`"
        if came != "accepted":  # of which there is nothing more to tell
            example += f": {_plain(run['wrong'][came][names[0]])}"
        why = f"*{came}*: {_plain(read[clause.id][came])}"
        table.append(
            [clause.level, clause.section, f"`{clause.id}`", why, str(len(names)), example]
        )
    text = f"{title}\n\n{_lines(table)}"
    if lacking := run["wrong"].get("lacking"):
        kinds_lacking = Counter(it.rpartition("/")[0] for it in lacking)
        counted = ", ".join(f"`{it}` ({n})" for it, n in sorted(kinds_lacking.items()))
        text += (
            "\n\nNot there, though the core specification says that it should be "
            f"(cases): {counted}."
        )
    return text


def _strongest(case: Any) -> Clause:
    """The first clause that a case is about, of the strongest level that it has."""
    mine = (clauses()[it] for it in case.clauses)
    return min(mine, key=lambda it: STRENGTHS.index(strength(it.level)))


def _plain(text: str) -> str:
    """A text that a cell of a table may hold."""
    for mark in "\\|*_<>[]`":
        text = text.replace(mark, f"\\{mark}")
    return text
