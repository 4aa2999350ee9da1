"""The response of an implementation to a case, and its evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Response:
    """The response to one case.

    Parameters
    ----------
    outcome : {"result", "error", "crash", "timeout", "memory"}
        Success, an error of the implementation, or how the adapter failed.
    result : mapping
        The reported ``node_type``, ``shape``, ``attributes``, ``dimension_names`` and
        ``members``, without those that the implementation does not report.
    values : bytes, optional
        The elements that were read.
    documents : mapping of str to JSON
        The metadata documents in the store after the operation; None if not valid JSON.
    stored : mapping of str to bytes
        The contents of the store after the operation.
    category, message : str
        The category and the message of the error.
    seconds : float
        The duration.
    """

    outcome: Literal["result", "error", "crash", "timeout", "memory"]
    result: dict[str, JSON] = field(default_factory=dict)
    values: bytes | None = None
    documents: dict[str, JSON] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    category: str = ""
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The evaluation of a response.

    Parameters
    ----------
    grade : {"pass", "fail", "unsupported", "crash"}
        ``unsupported``: the implementation does not support the operation, or does not report
        what the case is about.  ``crash``: it crashed, timed out or exceeded the memory
        limit, regardless of the expectation.
    reason : str
        The expectation and the response; empty for a pass.
    remark : str
        A deviation that is not a failure, such as an error of another category.
    """

    grade: Literal["pass", "fail", "unsupported", "crash"]
    reason: str = ""
    remark: str = ""
