"""The conformance tests; fixed digests."""

import pytest
from acme_hashed import Hashed
from zarr_conformance.kit import ChunkKeyEncodingTests


class TestHashed(ChunkKeyEncodingTests):
    name = "acme.hashed"
    configurations = [{}, {"digits": 1}, {"digits": 8}]
    bad_configurations = [{"digits": 0}, {"digits": 9}, {"digits": "2"}]


@pytest.mark.parametrize(
    ("chunk", "key"),
    [((), "2e/c"), ((0,), "ef/c/0"), ((0, 1), "23/c/0/1"), ((2**53, 7), "a2/c/9007199254740992/7")],
)
def test_keys_never_change(chunk, key):
    assert Hashed().encode(chunk) == key


def test_keys_are_distributed_evenly():
    folders = [0] * 16
    for row in range(40):
        for column in range(40):
            folders[int(Hashed(1).encode((row, column))[0], 16)] += 1
    assert min(folders) > 60
    assert max(folders) < 140


def test_a_key_with_a_wrong_digest_is_not_a_chunk_key():
    right = Hashed().encode((3, 4))
    wrong = f"{int(right[:2], 16) ^ 1:02x}{right[2:]}"
    assert Hashed().decode(right, 2) == (3, 4)
    assert Hashed().decode(wrong, 2) is None
    assert Hashed().decode(right.upper(), 2) is None
