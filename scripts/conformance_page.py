"""The text and tables of docs/conformance.md."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from zarr_conformance.baseline import BASELINE_VERSION
from zarr_conformance.clauses.clause import Clause, clauses, specifications
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.report.coverage import Coverage, coverage
from zarr_conformance.report.summary import FAILURES, INVALID, STRENGTHS, strength

TEMPLATE = Path(__file__).with_name("conformance_page.md")
FINDINGS = Path(__file__).with_name("conformance_findings.toml")

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
"""The order of the implementations in tables."""

SPECIFICATIONS = {
    "Version 3.1": ("v3-core", "v3-data-types", "v3-chunks", "v3-codecs"),
    "Registered extensions": ("ext-codecs", "ext-data-types", "ext-grids", "ext-key-encodings"),
    "Version 2": ("v2",),
    "Draft of 2022": ("v3-draft",),
}

_E = "v3-core/extensions"
PROBE = (
    ("an unknown codec is an error", f"{_E}/codecs/unknown-object"),
    ("an unknown codec is ignored with `must_understand` false", f"{_E}/codecs/unknown-must-understand-false"),
    ("a known codec with `must_understand` false is applied", f"{_E}/codecs/known-must-understand-false"),
    ("a codec may be given by its name only", f"{_E}/codecs/short-hand"),
    ("a chunk key encoding may be given by its name only", f"{_E}/chunk-key-encoding/short-hand"),
    ("an unknown data type is an error", f"{_E}/data-type/unknown-name"),
    ("an unknown data type with `must_understand` false is an error", f"{_E}/data-type/unknown-must-understand-false"),
    ("an unknown chunk grid with `must_understand` false is an error", f"{_E}/chunk-grid/unknown-must-understand-false"),
    ("an unknown chunk key encoding with `must_understand` false is an error", f"{_E}/chunk-key-encoding/unknown-must-understand-false"),
    ("an unknown storage transformer is an error", f"{_E}/storage-transformers/unknown-object"),
    (
        "an unknown storage transformer is ignored with `must_understand` false",
        f"{_E}/storage-transformers/unknown-must-understand-false",
    ),
    ("an unknown field of an array is an error", f"{_E}/array-member/object"),
    ("an unknown field of an array is ignored with `must_understand` false", f"{_E}/array-member/must-understand-false"),
    ("an unknown field of a group is an error", f"{_E}/group-member/object"),
    ("an unknown field of a group is ignored with `must_understand` false", f"{_E}/group-member/must-understand-false"),
    ("an unknown field in an extension definition is an error", f"{_E}/codecs/further-member"),
    ("an unknown codec with a URI as its name is an error", f"{_E}/naming/uri"),
    ("the data type `r16` is supported", "v3-data-types/raw/r16"),
    ("the data type `r24` is supported", "v3-data-types/raw/r24"),
    ("the data type `bfloat16` is supported", "ext-data-types/bfloat16/little-endian"),
    ("the data type `struct` is supported", "ext-data-types/struct/little-endian"),
    ("`int32` with the codec `bytes` without `endian` is an error", "v3-data-types/int32/no-endian"),
    ("the codec `blosc` with shuffling, but without `typesize` is an error", "v3-codecs/blosc/no-typesize-missing"),
    ("a chunk length of 0 is an error", "v3-chunks/regular/chunk-shape-zero"),
    ("the codec `bytes` after a compressor is an error", "v3-codecs/chain/no-bytes-behind-compressor"),
    ("an inner chunk shape that does not divide the shard shape is an error", "v3-codecs/sharding/no-chunk-shape-not-dividing"),
    ("a compressed shard index is an error", "v3-codecs/sharding/no-index-codecs-gzip"),
    ("array metadata without `codecs` is an error", "v3-core/array/without-codecs"),
    ("array metadata without `fill_value` is an error", "v3-core/array/without-fill-value"),
    ("creating a node with the name `__foo` is an error", "v3-core/names/reserved-created"),
    ("creating a node with the name `...` is an error", "v3-core/names/three-periods-created"),
)  # fmt: skip
"""Frequent questions, each with the case that answers it."""

_MARKS = {"p": "yes", "f": "**no**", "c": "**crash**", "u": "-"}
_OUTCOMES = {"p": "passes", "f": "fails", "c": "crashes"}


FAMILIES = dict.fromkeys(("zarr-python 3.1.6", "zarr-python-2", "zarrs-python"), "zarr-python")
"""Implementations that are not independent of another one; zarrs-python shares its metadata."""

LEAST_OTHERS = 2
"""A finding is published only with the outcome of so many independent implementations."""


def page(results: dict[str, Any], history: list[dict[str, Any]], exchange: dict[str, Any]) -> str:
    """Return the text of the page.

    Parameters
    ----------
    results : JSON
        The contents of ``docs/conformance.json``.
    history : JSON
        The contents of ``docs/conformance-history.json``.
    exchange : JSON
        The contents of ``docs/conformance-exchange.json``.
    """
    runs = results["runs"]
    cases = {case.id: case for case in all_cases()}
    grades = grades_by_case(results)
    parts = {
        "date": results["date"],
        "version": results["corpus"]["version"],
        "environment": f"Python {results['python']}, {results['machine']}",
        "count": f"{len(cases):,}",
        "judged": f"{len(results['cases']):,}",
        "names": ", ".join(full_name(it) for it in runs),
        "scores": _lines(_scores(runs)),
        "exchange": _lines(_exchange(exchange)),
        "history": _lines(_history(history)),
        "clauses": str(len(clauses())),
        "texts": str(len(specifications())),
        "coverage": _lines(_coverage(coverage(cases.values()))),
        "passed": _lines(_passed(runs)),
        "probe": _lines(_probe(runs, grades)),
        "findings": "\n\n".join(_findings(it, cases, grades) for it in runs),
        "gaps": _lines(_gaps(coverage(cases.values()))),
    }
    text = TEMPLATE.read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


def grades_by_case(results: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the grades by the name of the implementation, then by the id of the case.

    The corpus may have new cases since the results, which have no grades.
    """
    return {
        run["name"]: dict(zip(results["cases"], run["grades"], strict=True))
        for run in results["runs"]
    }


def full_name(run: dict[str, Any]) -> str:
    """Return the name of an implementation with its version."""
    name, version = run["name"], run["version"]
    return str(name) if name.endswith(version) else f"{name} {version}"


def _lines(table: list[list[str]]) -> str:
    head, *body = table
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(it) + " |" for it in lines)


def _coverage(covered: dict[str, Coverage]) -> list[list[str]]:
    table = [["specification", "clauses", "tested", "positive case", "negative case", "cases"]]
    for text in specifications().values():
        mine = [covered[it.id] for it in text.clauses]
        tested = [it for it in mine if it.clause.tested]
        negatives = [it for it in tested if it.clause.negative]
        positive = sum(1 for it in tested if "positive" not in it.gaps)
        negative = sum(1 for it in negatives if "negative" not in it.gaps)
        shown = {name for it in mine for name in (*it.positive, *it.negative, *it.open)}
        table.append([
            f"[{text.title}]({text.url})", str(len(mine)), str(len(tested)),
            f"{positive} of {len(tested)}", f"{negative} of {len(negatives)}", str(len(shown)),
        ])  # fmt: skip
    return table


def _gaps(covered: dict[str, Coverage]) -> list[list[str]]:
    rows = [
        [f"`{name}`", it.clause.text, " ".join(it.gaps)] for name, it in covered.items() if it.gaps
    ]
    return [["clause", "text", "missing case"], *rows]


def _scores(runs: list[dict[str, Any]]) -> list[list[str]]:
    table = [["", "passed", "judged", "cases", *FAILURES.values()]]
    for run in runs:
        counts = [str(run["kinds"].get(kind, 0)) for kind in FAILURES]
        table.append([full_name(run), *map(str, run["totals"]), *counts])
    return table


def _passed(runs: list[dict[str, Any]]) -> list[list[str]]:
    table = [["", *SPECIFICATIONS]]
    for run in runs:
        cells = []
        for texts in SPECIFICATIONS.values():
            found = []
            for group in (*STRENGTHS, INVALID):
                passed, judged = (sum(run["clauses"][it][group][n] for it in texts) for n in (0, 1))
                found.append(f"{passed}/{judged}")
            cells.append("-" if found == ["0/0"] * len(found) else " · ".join(found))
        table.append([full_name(run), *cells])
    return table


def _exchange(exchange: dict[str, Any]) -> list[list[str]]:
    """Return a row for each writer that wrote arrays, and a column for each reader."""
    found = {(it["writer"], it["reader"]): it["outcomes"] for it in exchange["pairs"]}
    names = list(exchange["implementations"])
    readers = [it for it in names if any(found[other, it].get("same") for other in names)]
    table = [["written by", "arrays", *readers]]
    for writer in names:
        count = sum(found[writer, names[0]].values())
        if count:
            cells = [_exchanged(found[writer, reader]) for reader in readers]
            table.append([f"{writer} {exchange['implementations'][writer]}", str(count), *cells])
    return table


def _exchanged(outcomes: dict[str, int]) -> str:
    same = outcomes.get("same", 0)
    bad = [f"**{outcomes[it]} {it}**" for it in ("wrong", "refused", "crash") if outcomes.get(it)]
    return ", ".join([str(same), *bad]) if same or bad else "-"


def _history(history: list[dict[str, Any]]) -> list[list[str]]:
    names = list(dict.fromkeys(name for entry in history for name in entry["scores"]))
    table = [["", *(f"{it['date']}, corpus {it['corpus']}" for it in history)]]
    for name in names:
        found = [entry["scores"].get(name) for entry in history]
        cells = [f"{it['passed']} / {it['judged']} / {it['cases']}" if it else "" for it in found]
        table.append([name, *cells])
    return table


def _probe(runs: list[dict[str, Any]], grades: dict[str, dict[str, str]]) -> list[list[str]]:
    asked = [case for _, case in PROBE]
    runs = [it for it in runs if {grades[it["name"]][case] for case in asked} != {"u"}]
    table = [["", *(it["name"] for it in runs)]]
    for question, case in PROBE:
        table.append([question, *(_MARKS[grades[it["name"]][case]] for it in runs)])
    return table


def expected_failures(run: dict[str, Any]) -> str:
    """Return the failures of an implementation as a baseline, each with its reason."""
    cases = {case.id: case for case in all_cases()}
    reasons = tomllib.loads(FINDINGS.read_text("utf-8"))
    texts = {
        case: f"{outcome}: {reasons[clause.id][outcome]} ({clause.id})"
        for (clause, outcome), names in kinds(run, cases).items()
        for case in names
    }
    for case in run["failures"].get("unsupported", ()):
        texts[case] = "not supported, although the specification recommends it"
    name = run["name"].removesuffix(f" {run['version']}")
    lines = [
        f"# The expected failures of {full_name(run)}: zarr-conformance run --baseline <this file>",
        "# Generated by scripts/document_conformance.py from docs/conformance.json; do not edit.",
        "",
        f"version = {BASELINE_VERSION}",
        "",
        f"[failures.{json.dumps(name)}]",
    ]
    lines += [f"{json.dumps(case)} = {json.dumps(texts[case])}" for case in sorted(texts)]
    return "\n".join(lines) + "\n"


def kinds(run: dict[str, Any], cases: dict[str, Any]) -> dict[tuple[Clause, str], list[str]]:
    """Return the failures of an implementation, grouped by clause and result.

    Parameters
    ----------
    run : JSON
        One of the runs of ``docs/conformance.json``.
    cases : mapping of str to Case
        By id.
    """
    found: dict[tuple[Clause, str], list[str]] = {}
    for outcome, failed in run["failures"].items():
        for name in failed:
            if name not in cases:
                raise SystemExit(f"case {name} does not exist: run the cases again and use --keep")
            if outcome != "unsupported":
                found.setdefault((_strongest(cases[name]), outcome), []).append(name)
    return found


def others(run: dict[str, Any], case: str, grades: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the outcomes of a case with implementations that are independent of this one.

    Of several implementations of a family, the first that was judged is named.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, theirs in grades.items():
        family = FAMILIES.get(name, name)
        if family != FAMILIES.get(run["name"], run["name"]) and theirs[case] in "pfc":
            found.setdefault(family, (name, _OUTCOMES[theirs[case]]))
    return dict(found.values())


def _findings(run: dict[str, Any], cases: dict[str, Any], grades: dict[str, dict[str, str]]) -> str:
    title = f"### {full_name(run)}"
    if not run["failures"]:
        return f"{title}\n\nNo failures."
    reasons = tomllib.loads(FINDINGS.read_text("utf-8"))
    table = [["binds", "clause", "result and reason", "cases", "example", "others"]]
    unpublished = 0
    found = kinds(run, cases)
    for clause, outcome in sorted(
        found, key=lambda it: (it[0].specification, it[0].section, it[1])
    ):
        names = found[clause, outcome]
        if outcome not in reasons.get(clause.id, {}):
            raise SystemExit(
                f"{clause.id}, {outcome} ({names[0]}): add the reason to {FINDINGS.name}"
            )
        compared = {it: others(run, it, grades) for it in names}
        case = next((it for it in names if len(compared[it]) >= LEAST_OTHERS), None)
        if case is None:
            unpublished += len(names)
            continue
        example = f"`{case}`"
        if outcome != "accepted":
            example += f": {_plain(run['failures'][outcome][case])}"
        defines = outcome == "accepted" and not clause.binds_reader
        why = f"*{outcome}*: {_plain(reasons[clause.id][outcome])}"
        level = "document" if defines else clause.level
        sentence = f"`{clause.id}` ({source_link(clause)})"
        outcomes = ", ".join(f"{name} {it}" for name, it in compared[case].items())
        table.append([level, sentence, why, str(len(names)), example, outcomes])
    text = f"{title}\n\n{_lines(table)}" if len(table) > 1 else title
    if unpublished:
        text += (
            f"\n\n{unpublished} more cases fail for which the outcome of two other implementations "
            "is not known, as they do not support the extension or the operation."
        )
    if unsupported := run["failures"].get("unsupported"):
        topics = Counter(it.rpartition("/")[0] for it in unsupported)
        counted = ", ".join(f"`{it}` ({n})" for it, n in sorted(topics.items()))
        text += (
            "\n\nNot supported, although the core specification recommends it "
            f"(number of cases): {counted}."
        )
    return text


def source_link(clause: Clause) -> str:
    """Return a link to the section in the text of the pinned commit."""
    return f"[{_plain(clause.section)}]({specifications()[clause.specification].link(clause)})"


def _strongest(case: Any) -> Clause:
    """Return the first of the strongest clauses of a case."""
    mine = (clauses()[it] for it in case.clauses)
    return min(mine, key=lambda it: STRENGTHS.index(strength(it.level)))


def _plain(text: str) -> str:
    """Return the text, escaped for a table cell."""
    for mark in "\\|*_<>[]`":
        text = text.replace(mark, f"\\{mark}")
    return text
