"""The table of required methods agrees with the interfaces."""

import re
from pathlib import Path

from zarr_core import extension

PAGE = (Path(__file__).parents[2] / "docs" / "extension-points.md").read_text()
SECTION = PAGE.partition("### Required methods\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| ([^|]*) \|", SECTION, re.MULTILINE)


def test_the_table_lists_all_abstract_methods():
    listed = {name: set(re.findall(r"`(\w+)`", defined)) for name, defined in ROWS}
    interfaces = {
        name: set(found.__abstractmethods__)
        for name in extension.__all__
        if getattr(found := getattr(extension, name), "__abstractmethods__", None)
    }
    undocumented = {
        "CachingStore",
        "KeyValueStore",
        "Carrier",
        "ByteReader",
        "WrapperReader",
        "Codec",
    }
    assert listed == {
        name: methods for name, methods in interfaces.items() if name not in undocumented
    }
