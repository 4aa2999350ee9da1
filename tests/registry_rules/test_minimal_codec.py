"""The smallest codec in the documentation: its length, installation and use."""

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr

PAGE = (Path(__file__).parents[2] / "docs" / "writing-a-codec.md").read_text()
SECTION = PAGE.partition("## A minimal codec\n")[2].partition("\n## ")[0]
CODE, DECLARATION = re.findall(r"^```\w+\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
LINES = [line for line in CODE.splitlines() if line.strip()]


def test_it_is_short():
    assert len(LINES) <= 12


@pytest.fixture
def installed(install):
    groups = tomllib.loads(DECLARATION)["project"]["entry-points"]
    assert list(groups) == ["zarr_core.codec"]
    assert len(groups["zarr_core.codec"]) == 1, "one entry point"
    install("acme-xor", {"codec": groups["zarr_core.codec"]}, {"acme_xor.py": CODE})


@pytest.mark.parametrize("shards", [None, (50,)])
def test_it_works(installed, tmp_path, shards):
    data = np.arange(100, dtype="int16")
    codec = {"name": "acme.xor", "configuration": {"key": 7}}
    zarr.create_array(tmp_path / "a", data=data, chunks=10, shards=shards, compressors=codec)
    array = zarr.open(tmp_path / "a", mode="r+")
    assert array[...].tolist() == data.tolist()
    array[15:25] = 0
    assert zarr.open(tmp_path / "a")[::5].tolist() == array[::5].tolist()
    (codec,) = array.compressors
    assert codec == sys.modules["acme_xor"].Xor(7)
    assert '"acme.xor"' in json.dumps(json.loads((tmp_path / "a" / "zarr.json").read_text()))
    if shards is None:
        stored = (tmp_path / "a" / "c" / "0").read_bytes()
        assert bytes(byte ^ 7 for byte in stored) == data[:10].tobytes()


def test_configuration_error_has_pointer(installed):
    wrong = {"name": "acme.xor", "configuration": {"kee": 7}}
    with pytest.raises(zarr.errors.ExtensionConfigurationError, match="/codecs/1/configuration"):
        zarr.create_array(shape=3, compressors=wrong)
