"""The text and tables of docs/conformance.md."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from zarr_conformance.clauses.clause import Clause, clauses, specifications
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.report.coverage import Coverage, coverage
from zarr_conformance.report.summary import STRENGTHS, strength

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

_MARKS = {"pass": "yes", "fail": "**no**", "crash": "**crash**", "unsupported": "-"}


def page(results: dict[str, Any]) -> str:
    """Return the text of the page.

    Parameters
    ----------
    results : JSON
        The contents of ``docs/conformance.json``.
    """
    runs = results["runs"]
    cases = {case.id: case for case in all_cases()}
    parts = {
        "date": results["date"],
        "count": f"{results['cases']:,}",
        "names": ", ".join(_full_name(it) for it in runs),
        "clauses": str(len(clauses())),
        "coverage": _lines(_coverage(coverage(cases.values()))),
        "passed": _lines(_passed(runs)),
        "probe": _lines(_probe(runs)),
        "findings": "\n\n".join(_findings(it, cases) for it in runs),
        "gaps": _lines(_gaps(coverage(cases.values()))),
    }
    text = TEMPLATE.read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


def _full_name(run: dict[str, Any]) -> str:
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


def _passed(runs: list[dict[str, Any]]) -> list[list[str]]:
    table = [["", *SPECIFICATIONS, "cases that pass", "fail", "crash", "not supported"]]
    for run in runs:
        cells = []
        for texts in SPECIFICATIONS.values():
            found = []
            for group in STRENGTHS:
                passed, tested = (sum(run["clauses"][it][group][n] for it in texts) for n in (0, 1))
                found.append(f"{passed}/{tested}")
            cells.append("-" if found == ["0/0"] * 3 else " · ".join(found))
        grades: Counter[str] = Counter()
        for it in run["cases"].values():
            grades.update(it)
        counts = [str(grades[it]) for it in ("pass", "fail", "crash", "unsupported")]
        table.append([_full_name(run), *cells, *counts])
    return table


def _probe(runs: list[dict[str, Any]]) -> list[list[str]]:
    runs = [it for it in runs if set(it["probe"].values()) != {"unsupported"}]
    table = [["", *(it["name"] for it in runs)]]
    table += [[question, *(_MARKS[it["probe"][case]] for it in runs)] for question, case in PROBE]
    return table


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


def _findings(run: dict[str, Any], cases: dict[str, Any]) -> str:
    title = f"### {_full_name(run)}"
    if not run["failures"]:
        return f"{title}\n\nNo failures."
    reasons = tomllib.loads(FINDINGS.read_text("utf-8"))
    table = [["level", "section", "clause", "result and reason", "cases", "example"]]
    found = kinds(run, cases)
    for clause, outcome in sorted(
        found, key=lambda it: (it[0].specification, it[0].section, it[1])
    ):
        names = found[clause, outcome]
        if outcome not in reasons.get(clause.id, {}):
            raise SystemExit(
                f"{clause.id}, {outcome} ({names[0]}): add the reason to {FINDINGS.name}"
            )
        example = f"`{names[0]}`"
        if outcome != "accepted":
            example += f": {_plain(run['failures'][outcome][names[0]])}"
        why = f"*{outcome}*: {_plain(reasons[clause.id][outcome])}"
        table.append(
            [clause.level, clause.section, f"`{clause.id}`", why, str(len(names)), example]
        )
    text = f"{title}\n\n{_lines(table)}"
    if unsupported := run["failures"].get("unsupported"):
        topics = Counter(it.rpartition("/")[0] for it in unsupported)
        counted = ", ".join(f"`{it}` ({n})" for it, n in sorted(topics.items()))
        text += (
            "\n\nNot supported, although the core specification recommends it "
            f"(number of cases): {counted}."
        )
    return text


def _strongest(case: Any) -> Clause:
    """Return the first of the strongest clauses of a case."""
    mine = (clauses()[it] for it in case.clauses)
    return min(mine, key=lambda it: STRENGTHS.index(strength(it.level)))


def _plain(text: str) -> str:
    """Return the text, escaped for a table cell."""
    for mark in "\\|*_<>[]`":
        text = text.replace(mark, f"\\{mark}")
    return text
