"""Metadata for tests of code that checks metadata, and checks of its results."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ValidationProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {},
    {"units": "", "note": None, "numbers": [1, 2.5, True], "inside": {"units": ["m"]}},
    {"units": None, "": 0, "long name": {"": []}},
)


def some_documents() -> Iterator[dict[str, Any]]:
    """Documents of version 3, each a new object: groups, arrays of 0 to 4 dimensions."""
    for number, attributes in enumerate(_ATTRIBUTES):
        group = {"zarr_format": 3, "node_type": "group"}
        yield group if not number else {**group, "attributes": deepcopy(attributes)}
    for ndim, attributes in product(range(5), _ATTRIBUTES):
        yield _array((4, 3, 0, 1)[:ndim], attributes)
    yield _array((7,), {}) | {"dimension_names": ["x"], "attributes": {}}
    yield _array((7, 2), {}) | {"dimension_names": [None, ""]}
    yield _array((7,), {}) | {"data_type": {"name": "acme.unknown", "configuration": {"a": 1}}}
    yield _array((7,), {}) | {"chunk_grid": {"name": "acme.unknown", "must_understand": True}}


def check_problems(reported: Iterable[Any]) -> list[ValidationProblem]:
    """Fail unless all items are a ValidationProblem with a message and a pointer."""
    problems = list(reported)
    for problem in problems:
        assert isinstance(problem, ValidationProblem), f"{problem!r} is no ValidationProblem"
        assert problem.message, f"nothing is said about {problem.pointer}"
        assert problem.pointer[:1] in ("", "/"), f"{problem.pointer!r} is no JSON pointer"
    return problems


def _array(shape: tuple[int, ...], attributes: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [*shape],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2] * len(shape)}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    return document | ({"attributes": deepcopy(attributes)} if attributes else {})
