"""The table of what each kind of extension must have is true of the interfaces."""

import re
from pathlib import Path

from zarr_core import extension

PAGE = (Path(__file__).parents[2] / "docs" / "extension-points.md").read_text()
SECTION = PAGE.partition("### What each must have\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| ([^|]*) \|", SECTION, re.MULTILINE)


def test_what_is_abstract_is_in_the_table():
    told = {name: set(re.findall(r"`(\w+)`", defined)) for name, defined in ROWS}
    interfaces = {
        name: set(found.__abstractmethods__)
        for name in extension.__all__
        if getattr(found := getattr(extension, name), "__abstractmethods__", None)
    }
    beside = {"Carrier", "Forking", "ValueReader", "WrapperReader", "Codec"}
    assert told == {name: them for name, them in interfaces.items() if name not in beside}
