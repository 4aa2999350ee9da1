"""Output of the library rich."""

import subprocess
import sys
from io import StringIO

import pytest
import zarr_core as zarr
from zarr_display.chunk_map import chunk_map


@pytest.fixture
def shown():
    console = pytest.importorskip("rich.console")

    def show(item):
        terminal = console.Console(
            record=True, width=60, color_system="truecolor", force_terminal=True, file=StringIO()
        )
        terminal.print(item)
        return terminal.export_text(clear=False), terminal.export_text(styles=True)

    return show


def test_tables_and_trees(shown):
    root = zarr.create_group()
    array = root.create_array("[bold]x[/]/y", shape=(2, 3), dtype="int8")
    root.create_array("b/c", shape=3, dtype="int8")
    plain, _ = shown(array.info)
    assert plain.splitlines()[0].split() == ["Name", "/[bold]x[/]/y"]  # names are no markup
    plain, styled = shown(root.tree())
    assert [line.rstrip() for line in plain.splitlines()] == repr(root.tree()).splitlines()
    assert "\x1b[1m" in styled


def test_chunk_maps_have_the_colours_of_the_picture(shown):
    array = zarr.create_array(shape=(4, 4), chunks=2, dtype="int8", compressors=None)
    array[:2] = 1
    plain, styled = shown(chunk_map(array))
    assert [it.rstrip() for it in plain.splitlines()] == repr(chunk_map(array)).splitlines()
    assert "38;2;248;223;99" in styled


def test_rich_is_imported_on_demand():
    program = """
import sys, zarr_core as zarr
from zarr_display.chunk_map import chunk_map
group = zarr.create_group()
array = group.create_array("a", shape=4, chunks=2)
for shown in (group, array, array.info, group.tree(), chunk_map(array), array.attrs):
    repr(shown), shown._repr_html_()
raise SystemExit("rich" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
