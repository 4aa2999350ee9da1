"""The base class of adapters in Python, which implements the protocol.

Each line of the input is a request, each line of the output a response, as JSON.  Requests::

    {"id": 1, "operation": "capabilities"}
    {"id": 2, "operation": "read", "zarr_format": 3, "store": "/a/directory", "path": "a/b",
     "into": "/a/file", "selection": [[0, 4, 1]]}

docs/writing-an-adapter.md describes all operations, schemas/conformance/protocol.json their form.
Responses::

    {"id": 1, "result": {"protocol": 1, "implementation": "zarr-core", "version": "0.1",
                         "formats": [2, 3], "operations": ["open", "read", "list"]}}
    {"id": 2, "result": {"node_type": "array", "shape": [4], "kind": "raw"}}
    {"id": 2, "error": {"category": "metadata", "type": "ValueError", "message": "..."}}

The elements that were read are in the file ``into``.  This file requires only Python 3.8 and
NumPy, so other projects can copy it.
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


PROTOCOL = 1
"""The version of the protocol."""


class UnsupportedError(Exception):
    """Raised for operations that the implementation does not support."""


class Adapter(ABC):
    """Executes requests with one implementation.

    Subclass it, and call :meth:`serve` if the file is run as a program.  :attr:`operations`
    contains the supported operations.
    """

    implementation: ClassVar[str]
    formats: ClassVar[tuple[int, ...]] = (3,)
    operations: ClassVar[tuple[str, ...]] = ("open", "read")

    @abstractmethod
    def version(self) -> str:
        """Return the version of the implementation."""

    @abstractmethod
    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Open a node without reading chunks; return its description."""

    def validate(self, request: Mapping[str, Any]) -> Problems:
        """Return the problems of a metadata document, each with ``pointer`` and ``message``."""
        raise self._unsupported(request)

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """Open an array; return its description and the requested elements."""
        raise self._unsupported(request)

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        """Return the paths below a group, each with ``"array"`` or ``"group"``."""
        raise self._unsupported(request)

    def update(self, request: Mapping[str, Any]) -> None:
        """Set attributes of a node."""
        raise self._unsupported(request)

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        """Create an array with ``request["document"]``, and write the elements, if any."""
        raise self._unsupported(request)

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        """Write elements to ``request["selection"]`` of an array."""
        raise self._unsupported(request)

    def resize(self, request: Mapping[str, Any]) -> None:
        """Change the shape of an array to ``request["shape"]``."""
        raise self._unsupported(request)

    def erase(self, request: Mapping[str, Any]) -> None:
        """Remove a node and all nodes below it."""
        raise self._unsupported(request)

    def call(self, request: Mapping[str, Any], operation: str, *arguments: Any) -> Any:
        """Execute an operation of the abstract store interface; return its result as JSON."""
        raise self._unsupported(request)

    def category(self, error: BaseException) -> str:
        """Return the category of an error; ``"other"`` if it is unknown."""
        return "unsupported" if isinstance(error, UnsupportedError) else "other"

    def _unsupported(self, request: Mapping[str, Any]) -> UnsupportedError:
        return UnsupportedError(f"{self.implementation} does not support {request['operation']}")

    # --- the loop ---

    def serve(self) -> None:
        """Respond to requests until the input ends; the output of libraries goes to standard error."""
        replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        sys.stdout = sys.stderr  # not buffered, so that nothing is lost if this is killed
        for line in sys.stdin:
            request = json.loads(line)
            response = self.respond(request)
            try:
                text = json.dumps(response)
            except (RecursionError, TypeError, ValueError) as error:  # deeply nested attributes
                text = json.dumps({"id": request["id"], "error": self._error(error)})
            replies.write(f"{text}\n")
            replies.flush()

    def respond(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request."""
        try:
            return {"id": request["id"], "result": self._execute(request)}
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # panics of other languages are not of type Exception
            return {"id": request["id"], "error": self._error(error)}

    def _error(self, error: BaseException) -> dict[str, str]:
        return {
            "category": self.category(error),
            "type": type(error).__name__,
            "message": str(error)[:2000],
        }

    def _execute(self, request: Mapping[str, Any]) -> dict[str, Any]:
        operation = request["operation"]
        if operation == "capabilities":
            return {
                "protocol": PROTOCOL,
                "implementation": self.implementation,
                "version": self.version(),
                "formats": list(self.formats),
                "operations": list(self.operations),
            }
        if operation == "validate":
            problems = self.validate(request)
            return {"valid": not problems, "problems": problems}
        if operation == "resolve":
            request = {**request, "path": request["spelling"]}
        if operation in ("read", "resolve"):
            description, elements = self.read(request)
            data, kind = as_bytes(elements)
            Path(request["into"]).write_bytes(data)
            return {**description, "kind": kind}
        if operation == "list":
            return {"node_type": "group", "members": self.list(request)}
        if operation == "create":
            file = request.get("values")
            self.create(request, None if file is None else Path(file).read_bytes())
            return {}
        if operation == "write":
            self.write(request, Path(request["values"]).read_bytes())
            return {}
        if operation == "store":
            return {"results": [self.call(request, *call) for call in request["calls"]]}
        known: dict[str, Callable[[Mapping[str, Any]], dict[str, Any] | None]] = {
            "open": self.open,
            "update": self.update,
            "resize": self.resize,
            "erase": self.erase,
        }
        if operation not in known:
            raise self._unsupported(request)
        return known[operation](request) or {}


def index(request: Mapping[str, Any]) -> Any:
    """Return the index for the requested selection."""
    selection = request.get("selection")
    return ... if selection is None else tuple(slice(*part) for part in selection)


def selected_shape(request: Mapping[str, Any]) -> list[int]:
    """Return the shape of the requested selection."""
    return [len(range(*part)) for part in request["selection"]]


def dtype_of(dtype: Any) -> Any:
    """Convert the ``dtype`` of format 2 for NumPy, which requires tuples instead of lists."""
    if isinstance(dtype, str):
        return dtype
    return [(name, dtype_of(kind), *map(tuple, shape)) for name, kind, *shape in dtype]


def as_elements(values: bytes, request: Mapping[str, Any], dtype: Any, shape: Any) -> Any:
    """Return the elements to write as an array of a NumPy data type."""
    if request["kind"] == "raw":
        little = np.frombuffer(values, dtype.newbyteorder("<"))
        return little.astype(dtype).reshape(tuple(shape))
    flat = json.loads(values)
    named = str(request.get("document", {}).get("data_type", ""))
    if dtype.kind == "O" and "bytes" in named:
        flat = [base64.b64decode(item) for item in flat]
    elements = np.empty(len(flat), dtype)
    elements[:] = flat
    return elements.reshape(tuple(shape))


def as_bytes(elements: Any) -> tuple[bytes, str]:
    """Encode elements for comparison: as little-endian bytes, or as a JSON list."""
    array = np.asarray(elements)
    if array.dtype.kind == "O" or type(array.dtype).__name__ == "StringDType":
        flat = [
            base64.b64encode(item).decode() if isinstance(item, bytes) else str(item)
            for item in array.reshape(-1).tolist()
        ]
        return json.dumps(flat, ensure_ascii=False).encode(), "json"
    array = without_unused_bits(array, array.dtype.name)
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.tobytes(), "raw"


def without_unused_bits(elements: Any, data_type: str) -> Any:
    """Set the unused bits of data types with less than 8 bits to zero."""
    bits = _FEW_BITS.get(data_type)
    if bits is None:
        return elements
    return np.ascontiguousarray(elements).view("u1") & np.uint8((1 << bits) - 1)
