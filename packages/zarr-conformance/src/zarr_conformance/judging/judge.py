"""Comparing an answer with what a case expects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.judging.answer import Answer, Verdict
from zarr_conformance.judging.reading import NotKnownError, NotReadableError, elements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_conformance.corpus.case import Expectation

_CRASHES = {
    "crash": "the process died",
    "timeout": "no answer in the time that it may take",
    "memory": "took more memory than it may",
}


def judge(case: Case, answer: Answer, knows: Callable[[str], bool] = lambda _: True) -> Verdict:
    """Say whether an answer is right.

    Parameters
    ----------
    case : Case
        What was asked.
    answer : Answer
        What came.
    knows : callable, optional
        Whether the implementation knows an extension at all, by its kind and name:
        ``codec:zstd``.  Who does not proves nothing by refusing it.

    Returns
    -------
    Verdict
        With a reason unless it is a pass.
    """
    if answer.outcome in _CRASHES:
        return Verdict("crash", f"{_CRASHES[answer.outcome]}: {answer.message}".rstrip(": "))
    expect = case.expect
    if answer.outcome == "error":
        return _refused(case, answer, knows)
    if case.operation == "validate":
        return _validated(expect, answer.result)
    if isinstance(expect, Reject):
        if unknown := _unknown(case, knows):
            # That it opens what it does not know is a matter of other cases.
            return Verdict("unsupported", f"accepted, though it does not know {unknown}")
        return Verdict("fail", f"accepted; expected a refusal ({expect.category})")
    untold: list[str] = []
    for problem in _differences(case, expect.node, answer, untold):
        return Verdict("fail", problem)
    if untold:
        return Verdict("unsupported", f"does not tell {', '.join(untold)}")
    return Verdict("pass")


def _validated(expect: Expectation, told: dict[str, Any]) -> Verdict:
    """Whether a document was rightly called valid; that the place is another is remarked."""
    if not isinstance(told.get("valid"), bool):
        return Verdict("unsupported", "does not tell valid")
    problems = told.get("problems") or []
    if isinstance(expect, Accept) and not told["valid"]:
        return Verdict("fail", f"called invalid: {problems}")
    if not isinstance(expect, Reject):
        return Verdict("pass")
    if told["valid"]:
        return Verdict("fail", f"accepted as valid; expected a refusal ({expect.category})")
    places = [str(it.get("pointer")) for it in problems]
    near = any(
        at == it or (it and at.startswith(f"{it}/")) for it in expect.pointers for at in places
    )
    remark = f"wrong is {' or '.join(map(repr, expect.pointers))}, told of {places}"
    return Verdict("pass", remark="" if near or not expect.pointers else remark)


def _refused(case: Case, answer: Answer, knows: Callable[[str], bool]) -> Verdict:
    expect = case.expect
    said = f"{answer.category}: {answer.message}".strip(": ")
    if unknown := _unknown(case, knows):
        return Verdict("unsupported", f"does not know {unknown}; {said}")
    if isinstance(expect, Reject) and answer.category == "unsupported":
        # Who does none of it proves nothing by refusing this.
        return Verdict("unsupported", said)
    if isinstance(expect, Accept):
        # Who lacks an extension that is not of the core is not at fault.
        optional = bool(case.needs) and answer.category in ("extension", "unsupported")
        if answer.category == "unsupported" or optional:
            return Verdict("unsupported", said)
        return Verdict("fail", f"refused: {said}")
    remark = ""
    if isinstance(expect, Reject) and answer.category not in (expect.category, expect.also):
        remark = f"refused as {answer.category}, which is {expect.category}"
    return Verdict("pass", remark=remark)


def _unknown(case: Case, knows: Callable[[str], bool]) -> str:
    return ", ".join(it for it in case.needs if not knows(it))


def _differences(case: Case, node: Node, answer: Answer, untold: list[str]) -> Iterator[str]:
    """What is not as it should be; what the answer does not tell goes into ``untold``."""
    for name in ("node_type", "shape", "attributes", "dimension_names", "members", "results"):
        expected = getattr(node, name)
        if expected is None:
            continue
        if name not in answer.result:
            untold.append(name)
        elif not same(_plain(expected), _plain(answer.result[name])):
            yield f"{name}: {answer.result[name]!r} instead of {_plain(expected)!r}"
    if node.values is not None and case.operation == "read":
        if answer.values is None:
            untold.append("values")
        elif not _same_values(node.values, answer.values):
            yield f"values: {_first_difference(node.values.data, answer.values)}"
    if node.values is not None and case.operation == "create" and case.zarr_format == 3:
        # Where bytes are given they are compared, so that the reader need not know the codecs.
        yield from _written(case, node.values.data, answer, untold if node.stored is None else [])
    for key, expected in (node.documents or {}).items():
        if key not in answer.documents:
            yield f"there is no {key} afterwards"
        yield from _members(key, expected, answer.documents.get(key))
    for key, value in (node.stored or {}).items():
        if key not in answer.stored:
            yield f"there is no {key} afterwards"
        elif answer.stored[key] != value:
            yield f"{key}: {_first_difference(value, answer.stored[key])}"
    for key in node.absent:
        if key in answer.stored:
            yield f"there is {key} afterwards"


def _written(case: Case, expected: bytes, answer: Answer, untold: list[str]) -> Iterator[str]:
    """What is wrong with an array that was written, as a reader of our own sees it."""
    key = f"{case.path}/zarr.json" if case.path else "zarr.json"
    document = answer.documents.get(key)
    if not isinstance(document, dict):
        yield f"there is no document {key} afterwards"
        return
    try:
        got = elements(answer.stored, case.path, document)
    except NotKnownError:
        untold.append("what it has written")
    except (NotReadableError, LookupError, TypeError, ValueError) as error:
        yield f"what it has written cannot be read: {type(error).__name__}: {error}"
    else:
        if got != expected:
            yield f"what it has written: {_first_difference(expected, got)}"


def _members(key: str, expected: Any, document: Any) -> Iterator[str]:
    if not isinstance(document, dict):
        yield f"{key} is no JSON object afterwards"
        return
    for name, value in expected.items():
        if name not in document:
            yield f"{key}: {name} is lost"
        elif name == "attributes" and isinstance(value, dict):
            # That an implementation adds one of its own is not forbidden either.
            yield from _members(f"{key}: {name}", value, document[name])
        elif not same(value, document[name]):
            yield f"{key}: {name} is {document[name]!r} instead of {value!r}"


def _first_difference(expected: bytes, got: bytes) -> str:
    if len(expected) != len(got):
        return f"{len(got)} bytes instead of {len(expected)}"
    place = next(n for n, pair in enumerate(zip(expected, got, strict=True)) if pair[0] != pair[1])
    part = slice(place - place % 8, place - place % 8 + 8)
    return f"{got[part].hex()} instead of {expected[part].hex()} from byte {part.start}"


def _same_values(expected: Values, got: bytes) -> bool:
    """Byte for byte; JSON in any layout."""
    if expected.kind == "raw" or got == expected.data:
        return got == expected.data
    try:
        return same(json.loads(expected.data), json.loads(got))
    except (ValueError, RecursionError):
        return False


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same.

    1 and 1.0 are one number, as RFC 8259 has no other kinds of them; true is none.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    numbers = isinstance(first, int | float) and isinstance(second, int | float)
    return (numbers or type(first) is type(second)) and bool(first == second)
