"""Adds the modules of the tests to sys.path, which pytest's importlib mode does not do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "fixtures" / "writers"))
