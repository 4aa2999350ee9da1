"""The conformance tests; keys and exchanged chunks."""

import os

import numpy as np
import pytest
import zarr_core as zarr
from zarr_conformance.kit import StorageTransformerTests

os.environ["ACME_SEALED_TEST"] = "secret"
CONFIGURATION = {"variable": "ACME_SEALED_TEST"}


class TestSealed(StorageTransformerTests):
    name = "acme.sealed"
    configurations = [CONFIGURATION]
    bad_configurations = [{}, {"variable": 1}, {"variable": ""}]
    detects_damage = True


@pytest.fixture
def store():
    store = zarr.MemoryStore()
    sealed = {"name": "acme.sealed", "configuration": CONFIGURATION}
    array = zarr.create_array(
        store, shape=4, chunks=2, dtype="uint8", metadata={"storage_transformers": [sealed]}
    )
    array[...] = np.arange(1, 5, dtype="uint8")
    return store


def test_another_key_is_rejected(store, monkeypatch):
    monkeypatch.setenv("ACME_SEALED_TEST", "another")
    with pytest.raises(zarr.errors.ZarrError, match="signature"):
        zarr.open_array(store, mode="r")[...]


def test_chunks_cannot_be_exchanged(store):
    store.set("c/0", bytes(store.get("c/1")))
    with pytest.raises(zarr.errors.ZarrError, match="signature"):
        zarr.open_array(store, mode="r")[...]


def test_reading_requires_a_key(store, monkeypatch):
    monkeypatch.delenv("ACME_SEALED_TEST")
    with pytest.raises(zarr.errors.ZarrError, match="ACME_SEALED_TEST"):
        zarr.open_array(store, mode="r")[...]
