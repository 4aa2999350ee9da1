"""Make the modules next to the tests importable; pytest's importlib mode does not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
