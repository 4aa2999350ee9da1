"""The modules that tests share."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_their_names_are_unique():
    """The conftest.py files add these folders to sys.path, in an order that depends on the tests."""
    folders = {
        path.parent for path in ROOT.glob("tests/**/conftest.py") if "sys.path." in path.read_text()
    }
    folders |= {ROOT / "tests/fixtures/writers", ROOT / "scripts"}
    files = [path for folder in folders for path in folder.glob("*.py")]
    shared = [path for path in files if not path.stem.startswith(("test_", "conftest", "__"))]
    count = Counter(path.stem for path in shared)
    assert [str(path.relative_to(ROOT)) for path in shared if count[path.stem] > 1] == []
