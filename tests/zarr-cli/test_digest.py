"""The commands digest and verify."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_stores.integrity.manifest import Manifest, create_manifest


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group = zarr.create_group("survey.zarr")
    group.create_array("height", data=np.arange(100).reshape(10, 10), chunks=(5, 5))
    return tmp_path / "survey.zarr"


def test_the_digest_of_a_copy_in_a_zip_file_is_the_same(survey, command, query):
    command("copy", "survey.zarr", "survey.zip")
    digests = {command("digest", place).split()[0] for place in ("survey.zarr", "survey.zip")}
    assert digests == {create_manifest("survey.zarr").digest}
    document = query("digest", "survey.zarr")
    assert document["digest"] in digests
    assert document["keys"] == 6
    assert document["nbytes"] == sum(
        file.stat().st_size for file in survey.rglob("*") if file.is_file()
    )
    below = query("digest", "survey.zarr#height")
    assert below["path"] == "/height"
    assert below["digest"] == create_manifest("survey.zarr", "height").digest


def test_each_key_that_differs_is_named(survey, command, query):
    command("digest", "survey.zarr", "--manifest", "m.jsonl")
    assert Manifest.read("m.jsonl") == create_manifest("survey.zarr")
    assert command("verify", "survey.zarr", "--manifest", "m.jsonl").startswith("sound: 6 keys")
    (survey / "height/c/0/0").unlink()
    (survey / "height/c/0/1").write_bytes((survey / "height/c/1/1").read_bytes())
    (survey / "notes.txt").write_text("new")
    shown = command("verify", "survey.zarr", "--manifest", "m.jsonl", status=1)
    assert "missing    height/c/0/0" in shown
    assert "content    height/c/0/1  has another content than in the manifest" in shown
    assert "unexpected notes.txt".replace(" ", "") in shown.replace(" ", "")
    assert "not sound: 6 keys" in shown
    document = query("verify", "survey.zarr", "--manifest", "m.jsonl", status=1)
    assert document["sound"] is False
    assert [(it["key"], it["kind"]) for it in document["problems"]] == [
        ("height/c/0/0", "missing"), ("height/c/0/1", "content"), ("notes.txt", "unexpected"),
    ]  # fmt: skip


def test_a_stored_manifest_is_found(survey, command, query):
    assert "was not found here or above" in command("verify", "survey.zarr", status=1)
    command("digest", "survey.zarr", "--store", "-q")
    assert query("verify", "survey.zarr")["sound"]
    assert query("verify", "survey.zarr#height")["keys"] == 5
    assert query("check", "survey.zarr")["unmanaged"] == []
    zarr.open("survey.zarr")["height"][0, 0] = 5
    assert "not sound: 6 keys" in command("verify", "survey.zarr", status=1)
    command("digest", "survey.zarr", "--store", "-q")
    assert query("verify", "survey.zarr") | {"store": ""} == {
        "store": "", "path": "/", "sound": True, "keys": 6, "listed": True,
        "digest": create_manifest("survey.zarr").digest, "problems": [],
        "nbytes": create_manifest("survey.zarr").nbytes,
    }  # fmt: skip
