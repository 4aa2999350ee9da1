"""The harness can fail: wrong copies of our own adapter are caught in every topic they concern."""

import json
import shutil
import sys
import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from waits import PATIENCE
from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.corpus.case import Accept, Either, Reject
from zarr_conformance.plugin_cases import capabilities_of, run_case
from zarr_conformance.runner.adapter_process import Limits
from zarr_conformance.runner.run import Implementation, run

CASES = tuple(all_cases())


@cache
def topics():
    found = {}
    for case in CASES:
        found.setdefault(case.id.rpartition("/")[0], []).append(case)
    return found


def node_of(case):
    return case.expect.node if isinstance(case.expect, Accept | Either) else None


def tells(name):
    """Cases that have to work, and whose node has something to compare."""
    return lambda case: isinstance(case.expect, Accept) and bool(getattr(case.expect.node, name))


def reads(case):
    return isinstance(case.expect, Accept) and case.operation == "read" and bool(
        case.expect.node.values and case.expect.node.values.data
    )  # fmt: skip


def refuses(case):
    return isinstance(case.expect, Reject)


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


class Reads(ZarrCore):
    """Makes something else of what it has read."""

    def wrong(self, elements):
        raise AssertionError

    def read(self, request):
        told, elements = super().read(request)
        return told, self.wrong(elements)


class LastElementWrong(Reads):
    def wrong(self, elements):
        flat = elements.reshape(-1).copy()
        if flat.dtype.kind in "OT":
            flat[-1:] = b"?" if isinstance(flat[:1].tolist()[0], bytes) else "?"
        elif flat.size:
            flat.view(np.uint8)[-1] ^= 1
        return flat.reshape(elements.shape)


class SwappedBytes(Reads):
    def wrong(self, elements):
        return elements.byteswap()


class Transposed(Reads):
    def wrong(self, elements):
        return elements.T


class Shorter(Reads):
    def wrong(self, elements):
        return elements.reshape(-1)[:-1]


class AllFill(Reads):
    def wrong(self, elements):
        return np.zeros_like(elements)


class WholeArray(ZarrCore):
    def read(self, request):
        return super().read({**request, "selection": None})


class Tells(ZarrCore):
    """Tells something else of a node."""

    def wrong(self, told):
        raise AssertionError

    def open(self, request):
        return self.wrong(super().open(request))

    def read(self, request):
        told, elements = super().read(request)
        return self.wrong(told), elements


class DropsAttributes(Tells):
    def wrong(self, told):
        return {**told, "attributes": {}}


class RoundsNumbers(Tells):
    def wrong(self, told):
        return json.loads(json.dumps(told), parse_float=lambda it: round(float(it)))


class WrongShape(Tells):
    def wrong(self, told):
        return {**told, "shape": [*told.get("shape", ()), 1]}


class WrongKind(Tells):
    def wrong(self, told):
        kinds = {"array": "group", "group": "array"}
        return {**told, "node_type": kinds[told["node_type"]]}


class NoNames(Tells):
    def wrong(self, told):
        return {**told, "dimension_names": None}


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


class ListsTooMuch(ZarrCore):
    def list(self, request):
        return {**super().list(request), "nobody": "group"}


class ListsTooLittle(ZarrCore):
    def list(self, request):
        found = super().list(request)
        return {name: found[name] for name in sorted(found)[1:]}


class Changes(ZarrCore):
    """Spoils what it has written."""

    def wrong(self, folder):
        raise AssertionError

    def update(self, request):
        super().update(request)
        self.wrong(request["store"])

    def create(self, request, values):
        super().create(request, values)
        self.wrong(request["store"])


def documents(folder):
    """JSON documents of a directory store: a file of each, with what it holds."""
    for file in Path(folder).rglob("*"):
        if file.is_file() and is_document(file):
            yield file, json.loads(file.read_bytes())


def is_document(file):
    return file.suffix == ".json" or file.name.startswith(".z")


class LosesMembers(Changes):
    """Keeps of a document what it knows, as a writer without care does."""

    KNOWN = ("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding")
    KNOWN += ("fill_value", "codecs")

    def wrong(self, folder):
        for file, document in documents(folder):
            kept = {name: it for name, it in document.items() if name in self.KNOWN}
            changed = {"harness": 1}
            file.write_text(
                json.dumps(kept | (changed if file.name == ".zattrs" else {"attributes": changed}))
            )


class WritesWrongDocuments(Changes):
    def wrong(self, folder):
        for file, document in documents(folder):
            file.write_text(json.dumps(dict.fromkeys(document)))


class WritesWrongBytes(Changes):
    def wrong(self, folder):
        for file in Path(folder).rglob("*"):
            if file.is_file() and not is_document(file):
                data = file.read_bytes()
                file.write_bytes(data[:-1] + bytes([data[-1] ^ 0xFF]))


class WritesNoElements(ZarrCore):
    def create(self, request, values):
        super().create(request, None)


def updates(case):
    return works(case) and case.operation == "update"


def keeps(case):
    """And what is kept is more than what every document has."""
    documents = (case.expect.node.documents or {}).values() if updates(case) else ()
    plain = {"harness": 1}
    return any(
        document.keys() - {*LosesMembers.KNOWN, "attributes"}
        or document.get("attributes", plain) != plain
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


MUTANTS = [
    (AcceptsEverything, refuses),
    (RefusesEverything, works),
    (LastElementWrong, reads),
    (Shorter, reads),
    (WholeArray, lambda case: reads(case) and case.selection is not None),
    (DropsAttributes, tells("attributes")),
    (WrongShape, lambda case: tells("shape")(case) and case.operation in ("open", "read")),
    (WrongKind, lambda case: tells("node_type")(case) and case.operation in ("open", "read")),
    (NoNames, tells("dimension_names")),
    (ListsTooMuch, tells("members")),
    (ListsTooLittle, tells("members")),
    (LosesMembers, keeps),
    (WritesWrongDocuments, updates),
    (WritesWrongDocuments, describes),
    (WritesWrongBytes, creates_elements),
    (WritesNoElements, creates_elements),
]


def survivors(mutant, concerned, caught=lambda outcome: outcome.verdict.grade == "fail"):
    """Topics in which nothing notices."""
    adapter = mutant()
    capabilities = capabilities_of(adapter)
    found = {}
    for topic, cases in topics().items():
        mine = [case for case in cases if concerned(case)]
        if mine:
            found[topic] = any(caught(run_case(case, adapter, capabilities)) for case in mine)
    assert found, "no case is about that"
    return [topic for topic, noticed in found.items() if not noticed]


@pytest.mark.parametrize(("mutant", "concerned"), MUTANTS)
def test_is_caught_in_every_topic_that_it_concerns(mutant, concerned):
    assert survivors(mutant, concerned) == []


# Where elements of one byte, one dimension or no gap are all there is, nobody can see these.
@pytest.mark.parametrize(
    ("mutant", "specification"),
    [
        *product(
            [SwappedBytes, AllFill, WrongFill], ["v2", "v3-core", "v3-codecs", "v3-data-types"]
        ),
        *product([Transposed], ["v2", "v3-codecs", "v3-chunks"]),
    ],
)
def test_is_caught_in_every_text_that_it_concerns(mutant, specification):
    adapter = mutant()
    capabilities = capabilities_of(adapter)
    mine = [case for case in CASES if reads(case) and case.id.startswith(f"{specification}/")]
    assert any(run_case(case, adapter, capabilities).verdict.grade == "fail" for case in mine)


def test_numbers_that_are_rounded_are_caught():
    assert "v3-core/array" not in survivors(RoundsNumbers, tells("attributes"))


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

    remarked = survivors(SaysOther, concerned, lambda outcome: bool(outcome.verdict.remark))
    assert remarked == []
    adapter = SaysOther()
    refusal = next(case for case in CASES if refuses(case))
    assert run_case(refusal, adapter, capabilities_of(adapter)).verdict.grade == "pass"


ENDS = """
import os, sys, time
from zarr_conformance.adapters.zarr_core import ZarrCore

class Ends(ZarrCore):
    def respond(self, request):
        reply = super().respond(request)
        if request["operation"] != "capabilities":
            {how}
        return reply

Ends().serve()
"""


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("os.abort()", "crash"),
        ("time.sleep(60)", "timeout"),
        ("hoard = [bytearray(1 << 20) for _ in range(4 << 10)]", "memory"),
    ],
)
def test_every_termination_is_caught(how, outcome, tmp_path):
    wanted = (refuses, reads, creates, updates)
    cases = [next(case for case in CASES if concerned(case)) for concerned in wanted]
    build(tmp_path / "corpus", cases)
    script = tmp_path / "ends.py"
    script.write_text(ENDS.format(how=how))
    implementation = Implementation("ends", [sys.executable, str(script)])
    limits = Limits(seconds=1 if outcome == "timeout" else PATIENCE, memory=400 << 20)
    done = run(implementation, tmp_path / "corpus", cases, limits=limits)
    assert [it.response.outcome for it in done.outcomes] == [outcome] * len(cases)
    assert {it.verdict.grade for it in done.outcomes} == {"crash"}
