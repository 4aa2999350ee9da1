"""Who does not know an extension is not judged by what it says of it."""

import pytest
from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.clauses.clause import clauses
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Reject
from zarr_conformance.judging.answer import Answer
from zarr_conformance.judging.judge import judge
from zarr_conformance.plugin_cases import asked_for, put
from zarr_conformance.reporting.results import Result
from zarr_conformance.reporting.summary import broken_by
from zarr_conformance.running.knowing import Knowledge

CASES = {case.id: case for case in all_cases()}


class NoZstd(ZarrCore):
    """Knows neither zstd nor why; refuses what names it, or opens everything unread."""

    lazy = False

    def answer(self, asked):
        store = asked.get("store")
        if store and "zstd" in self._text(store):
            if self.lazy and asked["operation"] == "open":
                return {"id": asked["id"], "result": {"node_type": "array"}}
            return {"id": asked["id"], "error": {"category": "other", "type": "E", "message": ""}}
        return super().answer(asked)

    def _text(self, store):
        with open(f"{store}/zarr.json") as document:
            return document.read()


@pytest.mark.parametrize("lazy", [False, True])
def test_refusing_what_is_not_known_proves_nothing(lazy):
    adapter = NoZstd()
    adapter.lazy = lazy
    can = asked_for(adapter)
    knows = Knowledge(lambda case: put(case, adapter, can).answer, can)
    assert not knows("codec:zstd")
    assert knows("codec:packbits")
    mine = [it for it in CASES.values() if it.needs == ("codec:zstd",) and it.operation != "create"]
    assert {type(it.expect) for it in mine} >= {Accept, Reject}
    assert {put(it, adapter, can, knows).verdict.grade for it in mine} == {"unsupported"}
    assert "pass" in {put(it, adapter, can).verdict.grade for it in mine}
    assert put(CASES["ext-codecs/packbits/no-padding-null"], adapter, can, knows).verdict.grade == (
        "pass"
    )


def test_what_a_document_names_is_needed():
    assert {it.id.rpartition("/")[0] for it in CASES.values() if it.id.startswith("ext-") and not it.needs} == {
        "ext-key-encodings/default",  # which everybody has
    }  # fmt: skip
    assert CASES["ext-codecs/zstd/no-level-23"].needs == ("codec:zstd",)
    assert CASES["ext-codecs/conditional/no-codecs-null"].needs == ("codec:conditional",)


def test_lacking_a_core_codec_breaks_that_clause_only():
    case = CASES["v3-codecs/transpose/0-2-1"]
    lacking = Result(case.id, "fail", observed={"category": "extension"})
    wrong = Result(case.id, "fail", observed={"category": "metadata"})
    assert {clauses()[it].level for it in broken_by(lacking, case)} == {"should"}
    assert broken_by(wrong, case) == case.clauses


def test_json_is_compared_in_any_layout():
    case = CASES["ext-codecs/vlen-utf8/whole"]
    compact = case.expect.node.values.data.replace(b'", "', b'","')
    told = Answer("result", {"node_type": "array", "shape": [9]}, values=compact)
    assert judge(case, told).grade == "pass"
    wrong = Answer("result", {"node_type": "array", "shape": [9]}, values=compact[:-1])
    assert judge(case, wrong).grade == "fail"
