"""The side of the protocol that an adapter written in Python needs.

One JSON object a line comes in, one goes out.  What is asked::

    {"id": 1, "operation": "capabilities"}
    {"id": 2, "operation": "read", "zarr_format": 3, "store": "/a/directory", "path": "a/b",
     "into": "/a/file", "selection": [[0, 4, 1]]}

``open``, ``validate`` and ``list`` have no ``into``; ``update`` has ``attributes`` to set; ``create`` has a
``document`` (of format 2: ``.zarray``, with ``attributes`` if there are any) and, if elements are
to be written, a file ``values`` with them, of ``kind`` raw or json; ``store`` has ``calls``, each an
operation of the abstract store interface with its arguments.  What is answered::

    {"id": 1, "result": {"implementation": "zarr-core", "version": "0.1", "formats": [2, 3],
                         "operations": ["open", "read", "list", "update", "create"]}}
    {"id": 2, "result": {"node_type": "array", "shape": [4], "kind": "raw"}}
    {"id": 2, "error": {"category": "metadata", "type": "ValueError", "message": "..."}}

The elements that were read are in the file ``into``.  Runs on Python 3.8 or newer, takes NumPy,
imports nothing else of this package: an adapter of another project may keep a copy of this file.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Problems = list[dict[str, str]]


_FEW_BITS = {
    "int2": 2,
    "uint2": 2,
    "int4": 4,
    "uint4": 4,
    "float4_e2m1fn": 4,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
}


class UnsupportedError(Exception):
    """What an adapter raises for something that the implementation does not do at all."""


class Adapter(ABC):
    """Does what is asked with one implementation.

    Subclass it, then call :meth:`serve` if the file is run as a program.  What is not offered
    is left out of :attr:`operations`.
    """

    implementation: ClassVar[str]
    formats: ClassVar[tuple[int, ...]] = (3,)
    operations: ClassVar[tuple[str, ...]] = ("open", "read")

    @abstractmethod
    def version(self) -> str:
        """Of the implementation."""

    @abstractmethod
    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Open a node without reading a chunk; tell what can be told of it."""

    def validate(self, asked: Mapping[str, Any]) -> Problems:
        """What is wrong with the document of a node, each a JSON ``pointer``, a ``message``."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """Open an array; tell what can be told of it, with the elements that were asked for."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        """Paths below a group, each with ``"array"`` or ``"group"``."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def update(self, asked: Mapping[str, Any]) -> None:
        """Set attributes of a node."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        """Make an array as ``asked["document"]`` describes it, then write the elements, if any."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def erase(self, asked: Mapping[str, Any]) -> None:
        """Remove a node with everything below it."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def call(self, asked: Mapping[str, Any], operation: str, *arguments: Any) -> Any:
        """Do one operation of the abstract store interface; give what it gives as JSON."""
        raise UnsupportedError(f"{self.implementation} does not offer {asked['operation']}")

    def category(self, error: BaseException) -> str:
        """What kind of refusal an error is; ``"other"`` if the implementation does not tell."""
        return "unsupported" if isinstance(error, UnsupportedError) else "other"

    # --- the loop ---

    def serve(self) -> None:
        """Answer until the input ends; what libraries print goes to standard error."""
        replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        for line in sys.stdin:
            asked = json.loads(line)
            replies.write(f"{json.dumps(self.answer(asked))}\n")
            replies.flush()

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one request."""
        try:
            return {"id": asked["id"], "result": self._do(asked)}
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # panics of other languages are no Exceptions
            told = {
                "category": self.category(error),
                "type": type(error).__name__,
                "message": str(error)[:2000],
            }
            return {"id": asked["id"], "error": told}

    def _do(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        operation = asked["operation"]
        if operation == "capabilities":
            return {
                "implementation": self.implementation,
                "version": self.version(),
                "formats": list(self.formats),
                "operations": list(self.operations),
            }
        if operation == "validate":
            problems = self.validate(asked)
            return {"valid": not problems, "problems": problems}
        if operation == "read":
            told, elements = self.read(asked)
            data, kind = as_bytes(elements)
            Path(asked["into"]).write_bytes(data)
            return {**told, "kind": kind}
        if operation == "list":
            return {"node_type": "group", "members": self.list(asked)}
        if operation == "create":
            file = asked.get("values")
            self.create(asked, None if file is None else Path(file).read_bytes())
            return {}
        if operation == "store":
            return {"results": [self.call(asked, *call) for call in asked["calls"]]}
        work: Callable[[Mapping[str, Any]], dict[str, Any] | None]
        work = {"open": self.open, "update": self.update, "erase": self.erase}[operation]
        return work(asked) or {}


def index(asked: Mapping[str, Any]) -> Any:
    """What to index an array with to read the part that was asked for."""
    selection = asked.get("selection")
    return ... if selection is None else tuple(slice(*part) for part in selection)


def dtype_of(dtype: Any) -> Any:
    """What NumPy takes for the ``dtype`` of format 2: tuples where JSON has lists."""
    if isinstance(dtype, str):
        return dtype
    return [(name, dtype_of(kind), *map(tuple, shape)) for name, kind, *shape in dtype]


def as_elements(values: bytes, asked: Mapping[str, Any], dtype: Any, shape: Any) -> Any:
    """What is to be written, as an array of a NumPy data type; binary ones are told by name."""
    if asked["kind"] == "raw":
        little = np.frombuffer(values, dtype.newbyteorder("<"))
        return little.astype(dtype).reshape(tuple(shape))
    flat = json.loads(values)
    named = str(asked["document"].get("data_type", ""))
    if dtype.kind == "O" and "bytes" in named:
        flat = [base64.b64decode(it) for it in flat]
    elements = np.empty(len(flat), dtype)
    elements[:] = flat
    return elements.reshape(tuple(shape))


def as_bytes(elements: Any) -> tuple[bytes, str]:
    """Elements as the harness compares them: raw little-endian bytes, or a JSON list."""
    array = np.asarray(elements)
    if array.dtype.kind == "O" or type(array.dtype).__name__ == "StringDType":
        flat = [
            base64.b64encode(it).decode() if isinstance(it, bytes) else str(it)
            for it in array.reshape(-1).tolist()
        ]
        return json.dumps(flat, ensure_ascii=False).encode(), "json"
    array = without_unused_bits(array, array.dtype.name)
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.tobytes(), "raw"


def without_unused_bits(elements: Any, data_type: str) -> Any:
    """Elements with zeros where a byte has more bits than the number; those stand for nothing."""
    bits = _FEW_BITS.get(data_type)
    if bits is None:
        return elements
    return np.ascontiguousarray(elements).view("u1") & np.uint8((1 << bits) - 1)
