"""Write real data, read it back, compare it with other libraries and draw it."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demo.peers import compare
from demo.picture import draw
from demo.report import extension_table, table
from demo.samples import Sample, samples
from demo.store import write

if TYPE_CHECKING:
    import zarr_core as zarr

WINDOW = (slice(96, 256), slice(150, 350))


def main(arguments: list[str] | None = None) -> int:
    """Run the demonstration.

    Parameters
    ----------
    arguments : list of str, optional
        Command line arguments: the directory to write to.

    Returns
    -------
    int
        Exit status; 1 if data that was read differs from data that was written.
    """
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("demo-output"))
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()

    _title("Sample data from matplotlib")
    data = samples()
    print(_inputs(data))

    target = folder / "samples.zarr"
    _title(f"Written to {target}")
    root = write(data, target)
    print(root.tree())
    arrays = dict(root.arrays(max_depth=None))

    _title("Information about an array")
    print(arrays["terrain/elevation"].info_complete())

    _title("Read back")
    failed = _windows(arrays, data)
    ours = {sample.path: arrays[sample.path][...] for sample in data}
    different = [
        sample.path for sample in data if not np.array_equal(ours[sample.path], sample.values)
    ]
    print(
        f"{len(data) - len(different)} of {len(data)} arrays are identical to the data that was written"
    )

    _title("Extensions in use")
    print(extension_table(arrays))

    _title("Read by other libraries")
    for library, same in compare(target, ours):
        if same is None:
            print(f"{library}: not installed")
            continue
        failed |= same != len(ours)
        print(f"{library}: {same} of {len(ours)} arrays are bitwise identical")

    picture = folder / "picture.png"
    draw(arrays, WINDOW, picture)
    _title("Output files")
    print(f"{picture}\n{target}/terrain/elevation/zarr.json")
    print(f"\n{time.perf_counter() - start:.1f} seconds, Python {sys.version.split()[0]}")
    return int(failed or bool(different))


def _windows(arrays: dict[str, zarr.Array], data: list[Sample]) -> bool:
    """Read parts in several ways, and return whether any differs from the data in memory."""
    whole = {sample.path: sample.values for sample in data}
    stored, memory = arrays["terrain/elevation"], whole["terrain/elevation"]
    rows, columns = [3, 170, 343], [400, 0, 210]
    checks = [
        ("elevation[96:256, 150:350]", stored[WINDOW], memory[WINDOW]),
        ("elevation[::-40, 200]", stored[::-40, 200], memory[::-40, 200]),
        ("elevation.oindex[[3, 170, 343], ::100]", stored.oindex[rows, ::100], memory[rows, ::100]),
        ("elevation.vindex[[3, 170, 343], [400, 0, 210]]", stored.vindex[rows, columns], memory[rows, columns]),
        ("elevation.blocks[1, 1]", stored.blocks[1, 1], memory[192:384, 224:448]),
        ("slice[128, 100:104]", arrays["head/slice"][128, 100:104], whole["head/slice"][128, 100:104]),
        ("height[45, 60]", arrays["coast/height"][45, 60], whole["coast/height"][45, 60]),
    ]  # fmt: skip
    lines: list[tuple[str, ...]] = [("selection", "shape", "range", "")]
    failed = False
    for selection, got, expected in checks:
        same = np.array_equal(got, expected)
        failed |= not same
        extent = f"{np.min(got):g} to {np.max(got):g}"
        lines.append((selection, str(np.shape(got)), extent, "identical" if same else "DIFFERENT"))
    print(table(lines))
    return failed


def _inputs(data: list[Sample]) -> str:
    rows: list[tuple[str, ...]] = [("array", "file", "shape", "type", "range")]
    rows += [
        (
            sample.path,
            sample.source,
            " x ".join(map(str, sample.values.shape)),
            str(sample.values.dtype),
            f"{sample.values.min():g} to {sample.values.max():g} {sample.attributes.get('units', '')}",
        )
        for sample in data
    ]
    return table(rows)


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    raise SystemExit(main())
