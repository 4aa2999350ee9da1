"""Evaluation of responses."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.evaluation.difference import difference
from zarr_conformance.evaluation.json_values import same
from zarr_conformance.evaluation.response import Response, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_conformance.corpus.case import Expectation

JUDGED = ("create", "update", "write", "resize")
"""The operations whose result is judged by the stored bytes."""

_CRASHES = {
    "crash": "the process died",
    "timeout": "time limit exceeded",
    "memory": "memory limit exceeded",
}


def evaluate(
    case: Case, response: Response, supports: Callable[[str], bool] = lambda _: True
) -> Verdict:
    """Compare a response with the expectation of its case.

    Parameters
    ----------
    case : Case
        The case.
    response : Response
        The response.
    supports : callable, optional
        Whether the implementation supports an extension, such as ``codec:zstd``.  An error for
        an unsupported extension is neither a pass nor a failure.

    Returns
    -------
    Verdict
        The verdict, with a reason unless it is a pass.
    """
    if response.outcome in _CRASHES:
        return Verdict("crash", f"{_CRASHES[response.outcome]}: {response.message}".rstrip(": "))
    expect = case.expect
    if response.outcome == "error":
        return _evaluate_error(case, response, supports)
    if case.operation == "validate":
        return _evaluate_validation(expect, response.result)
    if isinstance(expect, Reject):
        if unknown := _unknown(case, supports):
            # Whether unknown extensions raise errors is tested by other cases.
            return Verdict("unsupported", f"accepted, although {unknown} is not supported")
        return Verdict("fail", f"accepted; expected an error ({expect.category})")
    unreported: list[str] = []
    for problem in _differences(case, expect.node, response, unreported):
        return Verdict("fail", problem)
    if unreported:
        return Verdict("unsupported", f"does not report {', '.join(unreported)}")
    return Verdict("pass")


def _evaluate_validation(expect: Expectation, result: dict[str, Any]) -> Verdict:
    """Evaluate the result of ``validate``; other pointers than expected are a remark."""
    if not isinstance(result.get("valid"), bool):
        return Verdict("unsupported", "does not report valid")
    problems = result.get("problems") or []
    if isinstance(expect, Accept) and not result["valid"]:
        return Verdict("fail", f"reported as invalid: {problems}")
    if not isinstance(expect, Reject):
        return Verdict("pass")
    if result["valid"]:
        return Verdict("fail", f"reported as valid; expected an error ({expect.category})")
    pointers = [str(problem.get("pointer")) for problem in problems]
    near = any(
        at == pointer or (pointer and at.startswith(f"{pointer}/"))
        for pointer in expect.pointers
        for at in pointers
    )
    remark = f"expected the pointer {' or '.join(map(repr, expect.pointers))}, got {pointers}"
    return Verdict("pass", remark="" if near or not expect.pointers else remark)


def _evaluate_error(case: Case, response: Response, supports: Callable[[str], bool]) -> Verdict:
    expect = case.expect
    message = f"{response.category}: {response.message}".strip(": ")
    if unknown := _unknown(case, supports):
        return Verdict("unsupported", f"{unknown} is not supported; {message}")
    if not isinstance(expect, Accept) and response.category == "unsupported":
        # An error for an unsupported operation proves nothing.
        return Verdict("unsupported", message)
    if isinstance(expect, Accept):
        # Extensions that are not in the core specification are optional.
        optional = bool(case.needs) and response.category in ("extension", "unsupported")
        if response.category == "unsupported" or optional:
            return Verdict("unsupported", message)
        return Verdict("fail", f"unexpected error: {message}")
    remark = ""
    if isinstance(expect, Reject) and response.category not in (expect.category, expect.also):
        remark = f"error category {response.category}, expected {expect.category}"
    return Verdict("pass", remark=remark)


def _unknown(case: Case, supports: Callable[[str], bool]) -> str:
    return ", ".join(need for need in case.needs if not supports(need))


def _differences(
    case: Case, node: Node, response: Response, unreported: list[str]
) -> Iterator[str]:
    """Yield differences; append what the response does not report to ``unreported``."""
    for name in ("node_type", "shape", "attributes", "dimension_names", "members", "results"):
        expected = getattr(node, name)
        if expected is None:
            continue
        if name not in response.result:
            unreported.append(name)
        elif not same(_plain(expected), _plain(response.result[name])):
            yield f"{name}: {response.result[name]!r} instead of {_plain(expected)!r}"
    if node.values is not None and case.operation in ("read", "resolve"):
        if response.values is None:
            unreported.append("values")
        elif not same_values(node.values, response.values):
            yield f"values: {difference(node.values.data, response.values)}"
    yield from _stored_problems(case, node, response, unreported)
    for key, expected in (node.documents or {}).items():
        if key not in response.documents:
            yield f"{key} is missing after the operation"
        yield from _members(key, expected, response.documents.get(key))
    for key, value in (node.stored or {}).items():
        if key not in response.stored:
            yield f"{key} is missing after the operation"
        elif response.stored[key] != value:
            yield f"{key}: {difference(value, response.stored[key])}"
    for key in node.absent:
        if key in response.stored:
            yield f"{key} exists after the operation"


def _stored_problems(
    case: Case, node: Node, response: Response, unreported: list[str]
) -> Iterator[str]:
    """Yield what is wrong with the store after an operation."""
    if case.operation not in JUDGED:
        return
    try:
        judge = import_module("zarr_conformance.evaluation.stored_data.judge")
    except ModuleNotFoundError:  # of NumPy, which only this requires
        unreported.append("the written data, for which zarr-conformance requires NumPy")
        return
    unknown: list[str] = []
    yield from judge.stored_problems(case, response.stored, unknown)
    # A created array may be compared with stored bytes, for any codecs; after other operations,
    # these are only the keys that must not change.
    compared = case.operation == "create" and node.stored is not None
    if node.values is not None and not compared:
        unreported += unknown


def _members(key: str, expected: Any, document: Any) -> Iterator[str]:
    if not isinstance(document, dict):
        yield f"{key} is not a JSON object after the operation"
        return
    for name, value in expected.items():
        if name not in document:
            yield f"{key}: {name} is missing"
        elif name == "attributes" and isinstance(value, dict):
            # Implementations may add attributes.
            yield from _members(f"{key}: {name}", value, document[name])
        elif not same(value, document[name]):
            yield f"{key}: {name} is {document[name]!r} instead of {value!r}"


def same_values(expected: Values, got: bytes) -> bool:
    """Compare elements: bytes exactly, JSON by value."""
    if expected.kind == "raw" or got == expected.data:
        return got == expected.data
    try:
        return same(json.loads(expected.data), json.loads(got))
    except (ValueError, RecursionError):
        return False


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
