"""What an implementation answered, or what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one case.

    Parameters
    ----------
    outcome : {"result", "error", "crash", "timeout", "memory"}
        Whether it did what was asked, refused, died, took too long, took too much memory.
    result : mapping
        What it told: ``node_type``, ``shape``, ``attributes``, ``dimension_names``,
        ``members``; a member that it cannot tell is left out.
    values : bytes, optional
        The elements that it read.
    documents : mapping of str to JSON
        Documents that the store held afterwards; None for one that is no JSON.
    stored : mapping of str to bytes
        What the store held afterwards.
    category, message : str
        Of the error.
    seconds : float
        How long it took.
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
    """Whether that is right.

    Parameters
    ----------
    grade : {"pass", "fail", "unsupported", "crash"}
        ``unsupported``: the implementation says that it does not do that, does not offer the
        operation, or cannot tell what the case is about.  ``crash``: it died, hung, or took
        more memory than it may, whatever was expected.
    reason : str
        What was expected and what came; empty for a pass.
    remark : str
        What is right and could be better: a refusal of another category.
    """

    grade: Literal["pass", "fail", "unsupported", "crash"]
    reason: str = ""
    remark: str = ""
