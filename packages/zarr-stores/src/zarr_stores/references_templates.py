"""Templates in references, filled in without running any code of theirs.

Of Jinja's expressions there are names, whole numbers, texts in quotes, ``+ - * // %``,
parentheses, and calls of templates with named arguments.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_OTHER = re.compile(r"\{%|\{#")
_LONGEST = 1000  # characters of an expression, and of what it makes
_LARGEST = 1 << 63
_FORMAT = re.compile(r"[^%]*%0?[0-9]{0,2}[dsx][^%]*").fullmatch
_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def fill(text: str, names: Mapping[str, Any]) -> str:
    """Replace each ``{{expression}}`` of a text by its value.

    Parameters
    ----------
    text : str
        The text.
    names : mapping
        What names stand for: numbers, texts, and texts with templates, which are filled in
        with the arguments that they are called with.

    Raises
    ------
    ValueError
        If an expression is none of those that are known here.
    """
    if "{" not in text:
        return text
    if _OTHER.search(text):
        raise ValueError(f"{text!r} has statements, of which none are run")
    return _PLACE.sub(lambda match: str(_value(match[1], names)), text)


def _value(expression: str, names: Mapping[str, Any]) -> int | str:
    if len(expression) > _LONGEST:
        raise ValueError(f"an expression of {len(expression)} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        return _evaluated(tree, names, expression)
    except (SyntaxError, ZeroDivisionError, RecursionError, MemoryError, TypeError) as error:
        raise ValueError(f"{{{{{expression}}}}} has no value: {error}") from error


def _evaluated(node: ast.expr, names: Mapping[str, Any], expression: str) -> int | str:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | str() as value):
            return value
        case ast.Name(id=name):
            return _named(name, names, {})
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
            given = {
                word.arg: _evaluated(word.value, names, expression)
                for word in keywords
                if word.arg is not None
            }
            if len(given) == len(keywords):
                return _named(name, names, given)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _evaluated(operand, names, expression)
            if isinstance(value, int):
                return -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one = _evaluated(left, names, expression)
            return _combined(op, one, _evaluated(right, names, expression), expression)
    raise ValueError(
        f"{{{{{expression}}}}} is none of the expressions that are known: names, numbers, texts, "
        "+ - * // %, and templates called with named arguments"
    )


def _named(name: str, names: Mapping[str, Any], given: Mapping[str, Any]) -> int | str:
    if name not in names:
        raise ValueError(f"there is no template {name!r}; there are {', '.join(map(str, names))}")
    value = names[name]
    if isinstance(value, str) and "{{" in value:
        return fill(value, given)  # with nothing else, so that there are no circles
    if given or isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name!r} takes no arguments")
    return value


def _combined(op: ast.operator, one: int | str, other: int | str, expression: str) -> int | str:
    numbers = isinstance(one, int) and isinstance(other, int)
    texts = isinstance(one, str) and isinstance(other, str) and isinstance(op, ast.Add)
    formats = isinstance(one, str) and isinstance(op, ast.Mod) and _FORMAT(one)
    if not (numbers or texts or formats):
        raise ValueError(f"{{{{{expression}}}}} combines what does not go together")
    value = _OPERATORS[type(op)](one, other)
    too_large = abs(value) > _LARGEST if isinstance(value, int) else len(value) > _LONGEST
    if too_large:
        raise ValueError(f"{{{{{expression}}}}} has too large a value")
    made: int | str = value
    return made
