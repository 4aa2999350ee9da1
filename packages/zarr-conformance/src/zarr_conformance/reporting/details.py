"""All that is known of a case, in a form to be shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.build import as_json
from zarr_conformance.corpus.encode import document
from zarr_conformance.reporting.plain import pretty, short
from zarr_conformance.reporting.results import head
from zarr_conformance.reporting.summary import strength_of
from zarr_conformance.running.asking import values_of

if TYPE_CHECKING:
    from zarr_conformance.corpus.case import Case

_LONGEST = 4000


def details(case: Case) -> dict[str, Any]:
    """What is shown of a case, as JSON.

    ``texts`` are the documents of its store, each as a text; ``stored`` the other values, each
    with its length and the first bytes in hexadecimal digits.
    """
    entry = as_json(case)
    expect = dict(entry["expect"])
    told: dict[str, Any] = {
        "id": case.id,
        "clauses": list(case.clauses),
        "strength": strength_of(case),
        "says": case.says,
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
            told["stored"][key] = head(value)
        else:
            told["texts"][key] = short(text, _LONGEST)
    if case.selection is not None:
        told["selection"] = [list(part) for part in case.selection]
    for name in ("document", "calls"):
        if name in entry:
            told["document"] = short(pretty(entry[name]), _LONGEST)
    if (values := values_of(case)) is not None:
        expect.pop("values")
        as_text = values.kind == "json"
        told["values"] = {"text": values.data.decode()} if as_text else head(values.data)
    told["expect"] = short(pretty(expect), _LONGEST) if expect else ""
    return told


def _text(key: str, value: bytes) -> str | None:
    """A document as a text; as it stands in the store if a reader would not see all of it."""
    name = key.rpartition("/")[2]
    if not (name.endswith(".json") or name.startswith(".z")):
        return None
    try:
        text = value.decode()
        read = json.loads(text)
        if document(read) != value:  # members twice, spaces that matter, a number's spelling
            return text
        return pretty(read)
    except UnicodeDecodeError:
        return None
    except (ValueError, RecursionError):
        return text
