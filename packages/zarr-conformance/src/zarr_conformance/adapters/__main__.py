"""Starts one adapter by its module's name, by an interpreter that need not have this package.

``python a/path/to/zarr_conformance/adapters zarr_python_2`` takes the package from where this
file is, without anything that is installed beside it: an older NumPy, say, stays as it is.
"""

import importlib.util
import runpy
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def start(module: str) -> None:
    """Run a module of this folder as a program."""
    sys.path[:] = [
        place for place in sys.path if Path(place or ".").resolve() != PACKAGE / "adapters"
    ]
    spec = importlib.util.spec_from_file_location(
        PACKAGE.name, PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)]
    )
    assert spec is not None
    sys.modules[PACKAGE.name] = importlib.util.module_from_spec(spec)
    runpy.run_module(f"{PACKAGE.name}.adapters.{module}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    start(sys.argv[1])
