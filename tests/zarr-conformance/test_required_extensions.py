"""Cases of extensions: unsupported ones are not judged, and the kit runs those of a name."""

import pytest
import zarr_core as zarr
from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.clauses.clause import clauses
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Reject
from zarr_conformance.evaluation.evaluate import evaluate
from zarr_conformance.evaluation.response import Response
from zarr_conformance.kit import BytesToBytesCodecTests
from zarr_conformance.kit.specification import broken_cases, cases_of
from zarr_conformance.report.results import Result
from zarr_conformance.report.summary import failed_clauses
from zarr_conformance.runner.extension_support import ExtensionSupport
from zarr_conformance.runner.in_process import capabilities_of, run_case
from zarr_core.extension import ExtensionDefinition, create_extension

CASES = {case.id: case for case in all_cases()}


class NoZstd(ZarrCore):
    """Rejects metadata with zstd, or opens it without validation if lazy."""

    lazy = False

    def respond(self, request):
        store = request.get("store")
        if store and "zstd" in self._text(store):
            if self.lazy and request["operation"] == "open":
                return {"id": request["id"], "result": {"node_type": "array"}}
            return {"id": request["id"], "error": {"category": "other", "type": "E", "message": ""}}
        return super().respond(request)

    def _text(self, store):
        with open(f"{store}/zarr.json") as document:
            return document.read()


@pytest.mark.parametrize("lazy", [False, True])
def test_errors_for_unsupported_extensions_do_not_count(lazy):
    adapter = NoZstd()
    adapter.lazy = lazy
    can = capabilities_of(adapter)
    supports = ExtensionSupport(lambda case: run_case(case, adapter, can).response, can)
    assert not supports("codec:zstd")
    assert supports("codec:packbits")
    zstd_cases = [
        it for it in CASES.values() if it.needs == ("codec:zstd",) and it.operation != "create"
    ]
    assert {type(it.expect) for it in zstd_cases} >= {Accept, Reject}
    assert {run_case(it, adapter, can, supports).verdict.grade for it in zstd_cases} == {
        "unsupported"
    }
    assert "pass" in {run_case(it, adapter, can).verdict.grade for it in zstd_cases}
    assert run_case(
        CASES["ext-codecs/packbits/no-padding-null"], adapter, can, supports
    ).verdict.grade == ("pass")


def test_needs_has_the_extensions_of_the_metadata():
    assert {it.id.rpartition("/")[0] for it in CASES.values() if it.id.startswith("ext-") and not it.needs} == {
        "ext-key-encodings/default",  # belongs to the core specification
    }  # fmt: skip
    assert CASES["ext-codecs/zstd/no-level-23"].needs == ("codec:zstd",)
    assert CASES["ext-codecs/conditional/no-codecs-null"].needs == ("codec:conditional",)


def test_an_unsupported_core_codec_fails_the_should_only():
    case = CASES["v3-codecs/transpose/0-2-1"]
    unsupported = Result(case.id, "fail", observed={"category": "extension"})
    wrong = Result(case.id, "fail", observed={"category": "metadata"})
    assert {clauses()[it].level for it in failed_clauses(unsupported, case)} == {"should"}
    assert failed_clauses(wrong, case) == case.clauses


def test_json_values_are_compared_by_value():
    case = CASES["ext-codecs/vlen-utf8/whole"]
    compact = case.expect.node.values.data.replace(b'", "', b'","')
    response = Response("result", {"node_type": "array", "shape": [9]}, values=compact)
    assert evaluate(case, response).grade == "pass"
    wrong = Response("result", {"node_type": "array", "shape": [9]}, values=compact[:-1])
    assert evaluate(case, wrong).grade == "fail"


ZSTD = type(create_extension("codec", ExtensionDefinition("zstd", {"level": 1})))


class Wrong(ZSTD):
    """Gives the bytes of a chunk in reverse order; no schema says that it takes a level."""

    def decode_into(self, data, out):
        super().decode_into(data, out)
        out[:] = bytes(out)[::-1]


def test_a_wrong_codec_breaks_cases_of_its_text():
    assert broken_cases("codec", "zstd") == {}
    with zarr.override_extensions({"codec": {"zstd": Wrong}}):
        broken = broken_cases("codec", "zstd")
    assert "ext-codecs/zstd/level-1" in broken
    assert "ext-codecs/zstd/no-level-left-out" in broken
    assert "ext-codecs/zstd/no-level-23" not in broken


def test_names_have_their_cases():
    assert len(cases_of("codec", "gzip")) > 10
    assert len(cases_of("data_type", "bfloat16")) > 10
    assert len(cases_of("chunk_grid", "rectilinear")) > 50
    assert cases_of("codec", "acme.xor") == []


class TestZstd(BytesToBytesCodecTests):
    name = "zstd"
    configurations = ({"level": 1},)
    examples = 2
