"""Hypothesis within a test that is inherited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy


def check_examples(check: Callable[[Any], None], strategy: SearchStrategy[Any], count: int) -> None:
    """Call ``check`` with that many examples, and show the smallest that fails.

    A test that many classes inherit cannot be decorated: what it draws depends on
    the class.

    Parameters
    ----------
    check : callable
        Raises ``AssertionError`` for an example that fails.
    strategy : SearchStrategy
        Where examples come from.
    count : int
        How many.
    """

    @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def examine(example: Any) -> None:
        check(example)

    examine()
