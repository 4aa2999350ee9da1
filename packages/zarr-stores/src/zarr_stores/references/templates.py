"""Expansion of templates in references, without executing code.

A subset of the expressions of Jinja: names, integers, quoted strings, ``+ - * // %``,
parentheses, and calls of templates with keyword arguments.
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
_LONGEST = 1000  # characters of an expression, and of its value
_LARGEST = 1 << 63
_FORMAT = re.compile(r"[^%]*%0?[0-9]{0,2}[dsx][^%]*").fullmatch
_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def expand(text: str, names: Mapping[str, Any]) -> str:
    """Replace each ``{{expression}}`` in a text with its value."""
    if "{" not in text:
        return text
    if _OTHER.search(text):
        raise ValueError(f"{text!r} contains statements, which are not supported")
    return _PLACE.sub(lambda match: str(_value(match[1], names)), text)


def _value(expression: str, names: Mapping[str, Any]) -> int | str:
    if len(expression) > _LONGEST:
        raise ValueError(f"an expression has {len(expression)} characters; limit: {_LONGEST}")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        return _evaluated(tree, names, expression)
    except (SyntaxError, ZeroDivisionError, RecursionError, MemoryError, TypeError) as error:
        raise ValueError(f"cannot evaluate {{{{{expression}}}}}: {error}") from error


def _evaluated(node: ast.expr, names: Mapping[str, Any], expression: str) -> int | str:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | str() as value):
            return value
        case ast.Name(id=name):
            return _named(name, names, {})
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
            arguments = {
                word.arg: _evaluated(word.value, names, expression)
                for word in keywords
                if word.arg is not None
            }
            if len(arguments) == len(keywords):
                return _named(name, names, arguments)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _evaluated(operand, names, expression)
            if isinstance(value, int):
                return -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one = _evaluated(left, names, expression)
            return _combined(op, one, _evaluated(right, names, expression), expression)
    raise ValueError(
        f"{{{{{expression}}}}} is not supported; expressions can contain names, integers, "
        "strings, + - * // %, and calls of templates with keyword arguments"
    )


def _named(name: str, names: Mapping[str, Any], arguments: Mapping[str, Any]) -> int | str:
    if name not in names:
        raise ValueError(
            f"unknown template {name!r}; the templates are {', '.join(map(str, names))}"
        )
    value = names[name]
    if isinstance(value, str) and "{{" in value:
        return expand(value, arguments)  # without other names, so that recursion is impossible
    if arguments or isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name!r} takes no arguments")
    return value


def _combined(op: ast.operator, one: int | str, other: int | str, expression: str) -> int | str:
    numbers = isinstance(one, int) and isinstance(other, int)
    texts = isinstance(one, str) and isinstance(other, str) and isinstance(op, ast.Add)
    formats = isinstance(one, str) and isinstance(op, ast.Mod) and _FORMAT(one)
    if not (numbers or texts or formats):
        raise ValueError(f"{{{{{expression}}}}} combines incompatible types")
    value = _OPERATORS[type(op)](one, other)
    too_large = abs(value) > _LARGEST if isinstance(value, int) else len(value) > _LONGEST
    if too_large:
        raise ValueError(f"the value of {{{{{expression}}}}} is too large")
    made: int | str = value
    return made
