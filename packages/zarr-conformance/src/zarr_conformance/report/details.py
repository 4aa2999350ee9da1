"""The contents of a case, for reports."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.archive import as_json
from zarr_conformance.report.results import head
from zarr_conformance.report.summary import strength_of
from zarr_conformance.report.text import pretty_json, truncate
from zarr_conformance.runner.protocol import case_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_conformance.corpus.case import Case, Values

_LONGEST = 4000


def details(case: Case) -> dict[str, Any]:
    """Return the contents of a case as JSON.

    ``texts`` contains the metadata documents of its store, ``stored`` the length and the first
    bytes of other values.
    """
    entry = as_json(case)
    expect = dict(entry["expect"])
    result: dict[str, Any] = {
        "id": case.id,
        "clauses": list(case.clauses),
        "strength": strength_of(case),
        "summary": case.summary,
        "operation": case.operation,
        "zarr_format": case.zarr_format,
        "path": case.path,
        "outcome": expect.pop("outcome"),
        "needs": list(case.needs),
        "texts": {},
        "stored": {},
    }
    for key, value in sorted(case.store.items()):
        text = _text(key, value)
        if text is None:
            result["stored"][key] = head(value)
        else:
            result["texts"][key] = truncate(text, _LONGEST)
    if case.selection is not None:
        result["selection"] = [list(part) for part in case.selection]
    shown: dict[str, Any] = {
        name: entry[name] for name in ("calls", "shape", "spelling") if name in entry
    }
    if case.elements is not None:
        shown["elements"] = _text_or_head(case.elements)
    if "document" in entry or shown:
        request = entry.get("document", shown)
        result["document"] = truncate(pretty_json(request), _LONGEST)
    if (values := case_values(case)) is not None:
        expect.pop("values")
        result["values"] = _text_or_head(values)
    result["expect"] = truncate(pretty_json(expect), _LONGEST) if expect else ""
    return result


def _text_or_head(values: Values) -> dict[str, Any]:
    return {"text": values.data.decode()} if values.kind == "json" else head(values.data)


def rerun_command(case: str, name: str, adapter: Sequence[str] = ()) -> str:
    """Return the command that runs one case; with an adapter that is not a bundled one, if given."""
    who = ["--command", shlex.join(adapter)] if adapter else ["--impl", name]
    return shlex.join(["zarr-conformance", "run", *who, "--only", case, "--verbose"])


def _text(key: str, value: bytes) -> str | None:
    """Return a metadata document as text, unformatted if formatting would lose details."""
    name = key.rpartition("/")[2]
    if not (name.endswith(".json") or name.startswith(".z")):
        return None
    try:
        text = value.decode()
        read = json.loads(text)
        if (
            json.dumps(read, ensure_ascii=False, indent=1).encode() != value
        ):  # duplicate members, white space, forms of numbers
            return text
        return pretty_json(read)
    except UnicodeDecodeError:
        return None
    except (ValueError, RecursionError):
        return text
