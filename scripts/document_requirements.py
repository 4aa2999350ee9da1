"""Write the requirements of each extension point: the tests of the kit, one line for each.

``python scripts/document_requirements.py`` writes ``docs/requirements``; a test checks that the
pages are current, so they list exactly what the kit checks.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from zarr_conformance import kit

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "requirements"

KINDS = {
    "array-to-array-codec": ("Array -> array codecs", "ArrayToArrayCodecTests"),
    "array-to-bytes-codec": ("Array -> bytes codecs", "ArrayToBytesCodecTests"),
    "bytes-to-bytes-codec": ("Bytes -> bytes codecs", "BytesToBytesCodecTests"),
    "native-codec": ("Codecs with C functions", "NativeCodecTests"),
    "data-type": ("Data types", "DataTypeTests"),
    "chunk-grid": ("Chunk grids", "ChunkGridTests"),
    "chunk-key-encoding": ("Chunk key encodings", "ChunkKeyEncodingTests"),
    "chunk-memory-layout": ("Chunk memory layouts", "ChunkMemoryLayoutTests"),
    "storage-transformer": ("Storage transformers", "StorageTransformerTests"),
    "metadata-extension": ("Metadata extensions", "MetadataExtensionTests"),
    "format": ("Formats", "FormatTests"),
    "store": ("Stores", "StoreTests"),
    "bridge": ("Extensions of other libraries", "BridgeTests"),
    "display": ("Displays", "DisplayTests"),
    "native-executor": ("Native executors", "NativeExecutorTests"),
    "hooks": ("Hooks", "HooksTests"),
}
"""Page -> its title and the test class of the kit."""


def requirements(name: str) -> list[tuple[str, str]]:
    """Return the tests of a class of the kit, each with its requirement, in their order."""
    cls = getattr(kit, name)
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for test in vars(base):
            if test.startswith("test_"):
                document = inspect.getdoc(getattr(cls, test)) or ""
                words = test.removeprefix("test_").replace("_", " ").capitalize()
                found[test] = " ".join(document.partition("\n\n")[0].split()) or f"{words}."
    return list(found.items())


def page(title: str, name: str) -> str:
    """Return the text of a page."""
    cls: Any = getattr(kit, name)
    example = inspect.getdoc(cls) or ""
    lines = [
        line.removeprefix(">>> ").removeprefix("... ")
        for line in example.partition("Examples\n--------\n")[2].splitlines()
        if line.startswith((">>> ", "... "))
    ]
    code = "\n".join([f"from zarr_conformance.kit import {name}", "", *lines]) if lines else ""
    rows = "\n".join(f"| {text} | `{test}` |" for test, text in requirements(name))
    return (
        f"# {title}\n\n`{name}` of [zarr-conformance](../../packages/zarr-conformance) checks these "
        "requirements, and no others.\n[Extension points](../extension-points.md) describes the "
        "interface.\n\n"
        + (f"```text\n{code}\n```\n\n" if code else "")
        + f"| requirement | test |\n|---|---|\n{rows}\n"
    )


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    found = {f"{name}.md": page(*about) for name, about in KINDS.items()}
    listed = "\n".join(KINDS)
    found["index.md"] = (
        "# Requirements of extensions\n\nOne page for each kind of extension. The test kit checks "
        "exactly these requirements:\n`zarr-conformance new codec acme.x` creates a distribution "
        f"with its tests.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return found


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
