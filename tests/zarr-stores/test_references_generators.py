"""Reference documents with invalid generators or targets."""

import json

import pytest
from zarr_core.errors import MetadataError, StoreReadError
from zarr_stores.references import ReferenceStore

GOOD = {"key": "{{i}}", "url": "u", "dimensions": {"i": [1]}}
WRONG = {
    "no object": (5, "must be an object"),
    "no key": ({"url": "u", "dimensions": {}}, "no 'key'"),
    "nothing": ({}, "no 'key' and no 'url' and no 'dimensions'"),
    "key": ({**GOOD, "key": 5}, "key must be a string, not 5"),
    "url": ({**GOOD, "url": None}, "url must be a string, not None"),
    "dimensions": ({**GOOD, "dimensions": [1]}, r"dimensions must be an object, not \[1\]"),
    "number": ({**GOOD, "dimensions": {"i": 5}}, "dimension 'i' must be a list .* not 5"),
    "no stop": ({**GOOD, "dimensions": {"i": {"start": 1}}}, "dimension 'i' must .* 'stop'"),
    "step": ({**GOOD, "dimensions": {"i": {"stop": 3, "step": 0}}}, "step .* 'i' must not be 0"),
    "offset": ({**GOOD, "offset": "x", "length": 1}, "offset 'x' is not an integer"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_generators_are_described(name, tmp_path):
    generator, message = WRONG[name]
    path = tmp_path / "refs.json"
    path.write_text(json.dumps({"version": 1, "gen": [GOOD, generator]}))
    with pytest.raises(MetadataError, match=f"/gen/1: .*{message}") as caught:
        ReferenceStore(path)
    assert "Error(" not in str(caught.value)


def test_a_target_with_half_of_a_surrogate_pair_is_rejected(tmp_path):
    store = ReferenceStore({"a": ["x\ud800", 0, 5]}, root=str(tmp_path))
    for read in (store.get, store.open_value):
        with pytest.raises(StoreReadError, match="'a'.*half of a surrogate pair"):
            read("a")
