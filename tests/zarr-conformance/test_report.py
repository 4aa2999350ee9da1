"""Results as JSON, JUnit XML, HTML and text."""

import json
import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pytest
from zarr_conformance.clauses.clause import clauses
from zarr_conformance.corpus import v3_array
from zarr_conformance.corpus.archive import corpus_digest
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Case, Node, Reject
from zarr_conformance.evaluation.response import Response, Verdict
from zarr_conformance.report.coverage import coverage
from zarr_conformance.report.html import html
from zarr_conformance.report.junit import junit
from zarr_conformance.report.results import (
    ImplementationResults,
    Result,
    ResultsError,
    collect_results,
    from_json,
    to_json,
    with_unique_name,
)
from zarr_conformance.report.summary import (
    FAILURES,
    failure_kind,
    summary,
    summary_line,
    violations,
)
from zarr_conformance.report.terminal import show_case
from zarr_conformance.report.text import pretty_json, printable, truncate
from zarr_conformance.runner.run import Outcome, Run

FIRST = list(v3_array.cases())
CORPUS = FIRST[:30] + [it for it in FIRST[30:] if isinstance(it.expect, Accept)][:10]
CASES = {case.id: case for case in CORPUS}
HOSTILE = "\x1b[31m\x00\ud800]]></failure><&\"' \u202e\ufffe"


def some(name="some", **grades):
    """A run of which so many cases have these grades, the rest pass."""
    order = [grade for grade, count in grades.items() for _ in range(count)]
    order += ["pass"] * (len(CORPUS) - len(order))
    results = [
        Result(case.id, grade, "" if grade == "pass" else f"{HOSTILE} {grade}", seconds=0.5)
        for case, grade in zip(CORPUS, order, strict=True)
    ]
    return ImplementationResults(
        name, "impl", "1.2", (3,), ("open",), ("node", "a.mjs"), 2.0, tuple(results)
    )


def observed(response, grade="fail"):
    capabilities = {"implementation": "i", "version": "1", "formats": [3], "operations": ["open"]}
    outcome = Outcome(CORPUS[0], response, Verdict(grade, "why", "remark"))
    return collect_results(Run("i", capabilities, (outcome,), 1.0), ()).results[0]


def test_results_round_trip_as_json():
    runs = (some("a", fail=2, crash=1, unsupported=3), some("b"))
    text = json.dumps(to_json(runs, CORPUS), allow_nan=False)
    assert from_json(json.loads(text), CORPUS) == runs


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda it: it.update(version=2), "version 2"),
        (lambda it: it["corpus"].update(digest="0"), "another version of the corpus"),
        (lambda it: it.pop("corpus"), "not valid results"),
        (lambda it: it["runs"][0].pop("version"), "not valid results"),
        (
            lambda it: it["runs"][0]["results"][0].update(grade="great"),
            "not a valid result of a case",
        ),
        (lambda it: it["runs"][0]["results"][0].update(case="x"), "not a valid result of a case"),
        (lambda it: it["runs"][0].update(results=3), "not valid results"),
    ],
)
def test_invalid_results(spoil, told):
    value = to_json([some()], CORPUS)
    spoil(value)
    with pytest.raises(ResultsError, match=told):
        from_json(value, CORPUS)
    with pytest.raises(ResultsError):
        from_json([], CORPUS)


def test_unknown_members_are_ignored():
    value = to_json([some()], CORPUS)
    value["runs"][0]["results"][0]["later"] = value["runs"][0]["later"] = 1
    assert from_json(value, CORPUS) == (some(),)


def test_digest_depends_on_all_parts_of_a_case():
    first = CORPUS[0]
    changed = [
        replace(first, summary="Another."),
        replace(first, expect=Accept(Node("group"))),
        replace(first, store={**first.store, "c/0": b""}),
        replace(first, path="a"),
    ]
    assert len({corpus_digest([it]) for it in [first, *changed]}) == 5


def test_responses_are_truncated():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    got = observed(
        Response("result", {"attributes": {"nan": float("nan")}, "members": {"x" * 9000: "y"}},
               values=bytes(1000), documents={"zarr.json": deep}, stored={"zarr.json": b"", "c/0": b"ab"})
    ).observed  # fmt: skip
    text = json.dumps(got, allow_nan=False)
    assert len(text) < 6000
    assert got["values"] == {"bytes": 1000, "head": "00" * 64}
    assert got["stored"] == {"c/0": {"bytes": 2, "head": "6162"}}
    assert got["documents"] == {"zarr.json": "(nested too deeply)"}
    assert observed(Response("result", {"a": 1}), "pass").observed == {}
    refused = observed(Response("error", category="metadata", message="no"), "pass").observed
    assert refused == {"outcome": "error", "category": "metadata", "message": "no"}


def test_names_are_made_unique():
    runs = []
    for _ in range(4):
        runs.append(with_unique_name(some(), runs))
    assert [it.name for it in runs] == ["some", "some 1.2", "some 1.2 #2", "some 1.2 #3"]


def test_summary_line():
    assert summary_line(some(), CASES) == (
        "some 1.2: 40 passed of 40 judged of 40 cases (100 % of those judged)"
    )
    run = some(fail=1, crash=1, unsupported=4)
    told = summary(run, CASES)
    wrong = {name for case in CORPUS[:2] for name in case.clauses}
    assert {it for group in told.failing.values() for it in group} == wrong
    assert summary_line(run, CASES).startswith(
        "some 1.2: 34 passed of 36 judged of 40 cases (94 % of those judged); "
        "wrong data: 1, crash or hang: 1; 12 musts"
    )
    assert (told.coverage, told.percent) == (90, 94)


def result_of(case, grade="fail", **seen):
    return Result(case.id, grade, observed=seen)


def test_kinds_of_failures():
    accept, reject = (
        next(it for it in CORPUS if isinstance(it.expect, kind)) for kind in (Accept, Reject)
    )
    found = {
        "wrong": failure_kind(result_of(accept, outcome="result"), accept),
        "refuses": failure_kind(result_of(accept, outcome="error"), accept),
        "accepts": failure_kind(result_of(reject, outcome="result"), reject),
        "crash": failure_kind(result_of(reject, "crash", outcome="timeout"), reject),
        "resources": failure_kind(result_of(accept, "crash", outcome="memory"), accept),
    }
    assert list(found) == list(found.values()) == list(FAILURES)


def test_a_must_requires_a_text_that_binds_the_reader():
    """Accepting an invalid document violates only clauses that require an error."""
    defined, required = (
        next(it for it in all_cases() if clause in it.clauses and isinstance(it.expect, Reject))
        for clause in ("v3-core.array.shape", "v3-core.extensions.unknown-group")
    )
    accepted = violations(result_of(defined, outcome="result"), defined)
    assert {group for group, _ in accepted} == {"invalid"}
    accepted = violations(result_of(required, outcome="result"), required)
    assert ("must", "v3-core.extensions.unknown-group") in accepted
    crashed = violations(result_of(defined, "crash", outcome="crash"), defined)
    assert {group for group, _ in crashed} == {"must"}


def test_a_run_that_accepts_nothing():
    """Errors and unsupported operations are not conformance."""
    results = [
        Result(it.id, "pass" if isinstance(it.expect, Reject) else "unsupported") for it in CORPUS
    ]
    run = replace(some(), results=tuple(results))
    told = summary(run, CASES)
    assert told.accepts_nothing
    assert told.percent == 100
    assert "accepts no valid data" in summary_line(run, CASES)
    suite = ElementTree.fromstring(junit([run], CASES).encode())[0]
    assert suite.get("failures") == "1"
    assert suite[-1].get("name") == "accepts-valid-data"
    assert not summary(some(), CASES).accepts_nothing


def test_percentage_is_rounded_down():
    run = some(fail=1)
    many = replace(run, results=run.results[:1] + run.results[1:] * 30)
    assert summary(many, CASES).percent == 99
    assert summary(some(unsupported=40), CASES).percent == 0


def test_junit():
    run = some(fail=2, crash=1, unsupported=3)
    known = replace(run.results[0], known="long known")
    run = replace(run, results=(known, *run.results[1:]))
    root = ElementTree.fromstring(junit([run, some("b")], CASES).encode())
    assert root.tag == "testsuites"
    suite, other = root
    assert other.get("failures") == other.get("errors") == other.get("skipped") == "0"
    wanted = {"tests": "40", "failures": "1", "errors": "1", "skipped": "4", "time": "20.000"}
    assert {name: suite.get(name) for name in wanted} == wanted
    assert suite.get("name") == "some 1.2"
    tests = list(suite)
    assert {it.tag for it in tests} == {"testcase"}
    assert tests[0].get("classname") == "some.v3-core.array"
    assert len({(it.get("classname"), it.get("name")) for it in tests}) == 40
    assert tests[0].find("skipped").get("message").startswith("known: long known; ")
    failure = tests[1].find("failure")
    assert "\\x1b[31m" in failure.get("message")
    assert CORPUS[1].summary in failure.text
    assert f"--only {CORPUS[1].id}" in failure.text
    assert tests[2].find("error").get("type") == "crash"
    assert list(tests[-1]) == []


def test_html():
    hostile = '</pre></details><script>document.title="owned"</script>\u2028'
    wrong = Result(CORPUS[0].id, "fail", f"wrong {hostile}", observed={hostile: [hostile]})
    known = replace(some(fail=2).results[1], known="long known")
    bad = replace(some("bad"), results=(wrong, known, *some().results[2:]), version=hostile)
    page = html([some(), bad], CORPUS)
    assert html([some(), bad], CORPUS) == page
    assert "default-src 'none'" in page
    assert not re.findall(r"<script|\bon\w+=|@import|src=|url\(|\u2028", page)
    assert page.count("<li>some 1.2: 40 passed of 40 judged") == 1
    rows = {row.split("</a>")[0].rpartition(">")[2]: row for row in page.split("\n<tr>")}
    assert rows.keys() >= clauses().keys()
    for clause in CORPUS[0].clauses:
        assert 'class="pass">✓ ' in rows[clause]
        assert f'class="fail"><a href="#1/{CORPUS[0].id}">✗ ' in rows[clause]
    first, second = re.findall(r'<details id="(.*?)"><summary>', page)
    assert (first, second) == (f"1/{CORPUS[0].id}", f"1/{CORPUS[1].id}")
    shown = unescape(page[page.index("<details") :])
    for part in ("wrong </pre>", "known: long known", CORPUS[0].summary, '"zarr_format": 3'):
        assert part in shown
    assert f"zarr-conformance run --command 'node a.mjs' --only {CORPUS[0].id} --verbose" in shown


def test_coverage_has_gaps():
    covered = coverage(CORPUS)
    shape = covered["v3-core.array.shape"]
    assert "v3-core/array/plain" in shape.positive
    assert "v3-core/array/without-shape" in shape.negative
    assert shape.gaps == ()
    assert coverage([])["v3-core.array.shape"].gaps == ("positive", "negative")
    may = coverage([])["v3-core.hierarchy.root-array"]
    assert may.gaps == ("positive",)
    assert replace(may, clause=replace(may.clause, untested="Why.")).gaps == ()


def test_documents_are_not_formatted_if_details_would_be_lost():
    def shown(data):
        case = Case("a/b/c", (), "It is.", "open", Accept(), {"zarr.json": data})
        return show_case(case).partition("zarr.json\n")[2].partition("\n\nexpected")[0].strip()

    twice = b'{"a": 1, "a": 2}'
    assert shown(twice) == twice.decode()
    assert shown(b"{") == "{"
    assert shown(b"\xff") == "1 bytes: ff"
    assert shown(b"[" * 100_000).endswith("more characters)")


def test_pretty_json():
    value = {"a": {"b": list(range(60))}, "c": [], "d": "x" * 100}
    assert json.loads(pretty_json(value)) == value
    assert '"c": []' in pretty_json(value)
    assert pretty_json({"a": 1}) == '{"a": 1}'


def test_untrusted_text_is_escaped():
    assert printable("a\tb\nc é 🌍") == "a\tb\nc é 🌍"
    assert printable(HOSTILE) == "\\x1b[31m\\x00\\ud800]]></failure><&\"' \\u202e\\ufffe"
    assert printable(HOSTILE).encode()
    assert truncate("abc", 3) == "abc"
    assert truncate("abcd", 3) == "abc… (1 more characters)"
