"""Start an adapter by the name of its module, without an installation of this package.

``python a/path/to/zarr_conformance/adapters zarr_python_2`` imports this package from the
directory of this file; other packages are those of the interpreter.
"""

import importlib.util
import runpy
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def start(module: str) -> None:
    """Run a module of this folder as a program."""
    sys.path[:] = [
        folder for folder in sys.path if Path(folder or ".").resolve() != PACKAGE / "adapters"
    ]
    spec = importlib.util.spec_from_file_location(
        PACKAGE.name, PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)]
    )
    assert spec is not None
    sys.modules[PACKAGE.name] = importlib.util.module_from_spec(spec)
    runpy.run_module(f"{PACKAGE.name}.adapters.{module}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    start(sys.argv[1])
