"""Count the files and functions of this project that four typical operations enter.

    python scripts/count_journeys.py           # a table
    python scripts/count_journeys.py --files   # with all files and functions, in order

Calls are recorded with ``sys.setprofile``.  Each operation is done once elsewhere before it is
recorded, so the execution of imported modules does not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core as zarr

zarr.config.set(native="off")  # the same files whether or not zarr-native is installed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PACKAGES = Path(__file__).resolve().parents[1] / "packages"
VALUES = np.arange(40 * 60, dtype="int32").reshape(40, 60)


def entered(operation: Callable[[], object]) -> list[tuple[str, str]]:
    """Return files below ``packages`` and the functions in them, in the order of the first call."""
    found: dict[tuple[str, str], None] = {}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_name != "<module>"
            and code.co_filename.startswith(str(PACKAGES))
        ):
            file = str(Path(code.co_filename).relative_to(PACKAGES))
            found.setdefault((file, code.co_qualname))

    previous = sys.getprofile()
    sys.setprofile(profile)
    try:
        operation()
    finally:
        sys.setprofile(previous)
    return list(found)


def create_array(path: Path, **options: Any) -> Any:
    """Create an array of 2 x 2 chunks."""
    return zarr.create_array(path, data=VALUES, chunks=(20, 30), compressors=None, **options)


def create_with_ignored_codec(path: Path) -> Path:
    """Create an array with an unknown codec that need not be understood."""
    create_array(path, attributes={"path": path.name})  # metadata that were not seen before
    file = path / "zarr.json"
    document = json.loads(file.read_text("utf-8"))
    document["codecs"].append({"name": "acme.unknown", "must_understand": False})
    file.write_text(json.dumps(document), "utf-8")
    return path


def create_group(path: Path) -> Any:
    """Create a group with another group and an array below it."""
    group = zarr.create_group(path)
    group.create_array("inside/field", data=VALUES, chunks=(20, 30), compressors=None)
    return group


def journeys(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Record the operations in a new folder."""
    plain, plain2 = create_array(folder / "plain"), create_array(folder / "plain2")
    shards = {"shards": (40, 60)}
    sharded = create_array(folder / "sharded", **shards)
    sharded2 = create_array(folder / "sharded2", **shards)
    ignored = create_with_ignored_codec(folder / "ignored")
    ignored2 = create_with_ignored_codec(folder / "ignored2")
    group, group2 = create_group(folder / "group"), create_group(folder / "group2")

    plain2[0:10, ::2]
    sharded2[3:5, 7:9] = 0
    zarr.open_array(ignored2)
    zarr.copy(group2, folder / "copy2")
    return {
        "read array[0:10, ::2] from a directory": entered(lambda: plain[0:10, ::2]),
        "write a part of a shard": entered(lambda: sharded.__setitem__(np.s_[3:5, 7:9], 0)),
        "open new metadata with an ignored codec": entered(lambda: zarr.open_array(ignored)),
        "copy a group": entered(lambda: zarr.copy(group, folder / "copy")),
    }


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded = journeys(Path(folder))
    for name, functions in recorded.items():
        files = list(dict.fromkeys(file for file, _ in functions))
        print(f"{len(files):4d} files {len(functions):4d} functions  {name}")
        if "--files" in sys.argv[1:]:
            for file in files:
                inside = ", ".join(function for it, function in functions if it == file)
                print(f"        {file}: {inside}")


if __name__ == "__main__":
    main()
