"""The harness can fail: wrong copies of our own adapter are caught in every topic they concern."""

import json
import shutil
import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from planted_faults import CASES, Fault, change, finds, put, refuses
from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.corpus.case import Accept
from zarr_conformance.runner.in_process import capabilities_of, run_case


@cache
def topics():
    found = {}
    for case in CASES:
        found.setdefault(case.id.rpartition("/")[0], []).append(case)
    return found


def tells(name):
    """Cases that have to work, and whose node has something to compare."""
    return lambda case: isinstance(case.expect, Accept) and bool(getattr(case.expect.node, name))


def reads(case):
    return isinstance(case.expect, Accept) and case.operation == "read" and bool(
        case.expect.node.values and case.expect.node.values.data
    )  # fmt: skip


def works(case):
    return isinstance(case.expect, Accept)


class AcceptsEverything(ZarrCore):
    def respond(self, request):
        reply = super().respond(request)
        return reply if "result" in reply else {"id": request["id"], "result": {}}

    def validate(self, request):
        return []


class RefusesEverything(ZarrCore):
    def respond(self, request):
        if request["operation"] == "capabilities":
            return super().respond(request)
        return {"id": request["id"], "error": {"category": "metadata", "type": "E", "message": ""}}


class PointsAtTheDocument(ZarrCore):
    def validate(self, request):
        return [it | {"pointer": "/"} for it in super().validate(request)]


class SaysOther(ZarrCore):
    def category(self, error):
        return "other"


class WholeArray(ZarrCore):
    def read(self, request):
        return super().read({**request, "selection": None})


class WritesNoElements(ZarrCore):
    def create(self, request, values):
        super().create(request, None)


class WrongFill(ZarrCore):
    """Reads what is missing as another value, that of a document with another fill value."""

    def read(self, request):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "store"
            shutil.copytree(request["store"], copy)
            for file in [*copy.rglob("zarr.json"), *copy.rglob(".zarray")]:
                document = json.loads(file.read_bytes())
                old = document.get("fill_value")
                one = isinstance(old, int | float) and not isinstance(old, bool)
                document["fill_value"] = (0 if old else 1) if one else not old
                file.write_text(json.dumps(document))
            try:
                return super().read({**request, "store": str(copy)})
            except Exception:
                return super().read(request)


# --- faults in what is read or written ---


def of_elements(function):
    return Fault(function.__name__, result=lambda node, elements: (node, function(elements)))


def told(name, function, operations=("open", "read")):
    return Fault(
        name, result=lambda node, elements: (function(node), elements), operations=operations
    )


def listed(name, function):
    return told(name, change("members", function), ("list",))


@of_elements
def last_element_wrong(elements):
    flat = elements.reshape(-1).copy()
    if flat.dtype.kind in "OT":
        flat[-1:] = b"?" if isinstance(flat[:1].tolist()[0], bytes) else "?"
    elif flat.size:
        flat.view(np.uint8)[-1] ^= 1
    return flat.reshape(elements.shape)


@of_elements
def shorter(elements):
    return elements.reshape(-1)[:-1]


@of_elements
def swapped_bytes(elements):
    return elements.byteswap()


@of_elements
def transposed(elements):
    return elements.T


@of_elements
def all_fill(elements):
    return np.zeros_like(elements)


def other_type(node):
    return {**node, "node_type": {"array": "group", "group": "array"}[node["node_type"]]}


def longer_shape(node):
    return {**node, "shape": [*node.get("shape", ()), 1]}


def rounded_numbers(node):
    return json.loads(json.dumps(node), parse_float=lambda it: round(float(it)))


def without_first(members):
    return {name: members[name] for name in sorted(members)[1:]}


KNOWN = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
    "fill_value", "codecs",
}  # fmt: skip


def loses_members(store, request):
    """Keep of a document what is known, as a writer without care does."""
    for key, document in list(store.documents()):
        changed = {"harness": 1}
        kept = {name: it for name, it in document.items() if name in KNOWN}
        store.put(key, kept | (changed if key.endswith(".zattrs") else {"attributes": changed}))


def wrong_documents(store, request):
    for key, document in list(store.documents()):
        store.put(key, dict.fromkeys(document))


def wrong_bytes(store, request):
    for key in store.chunks():
        store[key] = store[key][:-1] + bytes([store[key][-1] ^ 0xFF])


def updates(case):
    return works(case) and case.operation == "update"


def keeps(case):
    """And what is kept is more than what every document has."""
    documents = (case.expect.node.documents or {}).values() if updates(case) else ()
    plain = {"harness": 1}
    return any(
        document.keys() - {*KNOWN, "attributes"} or document.get("attributes", plain) != plain
        for document in documents
    )


def creates(case):
    return works(case) and case.operation == "create"


def describes(case):
    """And what is written is read by its document."""
    return creates(case) and bool(case.expect.node.documents or case.zarr_format == 3)


def creates_elements(case):
    """And not only those that need no chunk."""
    return (
        creates(case) and case.expect.node.values is not None and any(case.expect.node.values.data)
    )


OPENS = ("open", "read")
WRITES_DOCUMENTS = Fault("wrong documents", after=wrong_documents)
MUTANTS = [
    (AcceptsEverything, refuses),
    (RefusesEverything, works),
    (last_element_wrong, reads),
    (shorter, reads),
    (WholeArray, lambda case: reads(case) and case.selection is not None),
    (told("attributes", put(attributes={})), tells("attributes")),
    (told("shape", longer_shape), lambda case: tells("shape")(case) and case.operation in OPENS),
    (told("type", other_type), lambda case: tells("node_type")(case) and case.operation in OPENS),
    (told("names", put(dimension_names=None)), tells("dimension_names")),
    (listed("too much", put(nobody="group")), tells("members")),
    (listed("too little", without_first), tells("members")),
    (Fault("loses members", after=loses_members), keeps),
    (WRITES_DOCUMENTS, updates),
    (WRITES_DOCUMENTS, describes),
    (Fault("wrong bytes", after=wrong_bytes), creates_elements),
    (WritesNoElements, creates_elements),
]


def catches(case, mutant):
    """Whether a case fails with a wrong adapter or a fault."""
    if isinstance(mutant, Fault):
        return finds(case, mutant)
    adapter = mutant()
    return run_case(case, adapter, capabilities_of(adapter)).verdict.grade == "fail"


def survivors(mutant, concerned, catches=catches):
    """Topics in which nothing notices."""
    mine = {topic: [it for it in cases if concerned(it)] for topic, cases in topics().items()}
    assert any(mine.values()), "no case is about that"
    return [
        topic
        for topic, cases in mine.items()
        if cases and not any(catches(case, mutant) for case in cases)
    ]


@pytest.mark.parametrize(
    ("mutant", "concerned"), MUTANTS, ids=lambda it: getattr(it, "name", None) or it.__name__
)
def test_is_caught_in_every_topic_that_it_concerns(mutant, concerned):
    assert survivors(mutant, concerned) == []


# Where elements of one byte, one dimension or no gap are all there is, nobody can see these.
@pytest.mark.parametrize(
    ("mutant", "specification"),
    [
        *product(
            [swapped_bytes, all_fill, WrongFill], ["v2", "v3-core", "v3-codecs", "v3-data-types"]
        ),
        *product([transposed], ["v2", "v3-codecs", "v3-chunks"]),
    ],
)
def test_is_caught_in_every_text_that_it_concerns(mutant, specification):
    mine = [case for case in CASES if reads(case) and case.id.startswith(f"{specification}/")]
    assert any(catches(case, mutant) for case in mine)


def test_numbers_that_are_rounded_are_caught():
    assert "v3-core/array" not in survivors(told("numbers", rounded_numbers), tells("attributes"))


def test_another_place_is_remarked_and_is_not_a_failure():
    adapter = PointsAtTheDocument()
    pointed = [case for case in CASES if refuses(case) and case.expect.pointers]
    assert len(pointed) > 50
    for case in pointed:
        verdict = run_case(case, adapter, capabilities_of(adapter)).verdict
        assert (verdict.grade, verdict.remark != "") == ("pass", True), case.id


def test_another_category_is_remarked_and_is_not_a_failure():
    def concerned(case):
        if case.operation == "validate":  # which raises nothing
            return False
        return refuses(case) and "other" not in (case.expect.category, case.expect.also)

    adapter = SaysOther()
    capabilities = capabilities_of(adapter)

    def is_remarked(case, mutant):
        return bool(run_case(case, mutant, capabilities).verdict.remark)

    assert survivors(adapter, concerned, is_remarked) == []
    refusal = next(case for case in CASES if refuses(case))
    assert run_case(refusal, adapter, capabilities).verdict.grade == "pass"
