"""Draw the pictures of docs/looking-at-data.md from the output of its snippets.

Run it after a change of the notebook representations; it needs zarr-display and Chromium.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"

# Name of each picture, the object it shows, and its size in pixels.
PICTURES = {
    "array": ("sst", 980, 662),
    "group": ("ocean", 760, 190),
}

PAGE = """<!doctype html><meta charset="utf-8">
<style>body{{margin:0;display:flex;flex-direction:{direction}}}
section{{padding:14px 18px;font:13px system-ui,"DejaVu Sans",sans-serif;flex:1}}
.light{{background:#fff;color:#1f2328}}.dark{{background:#0d1117;color:#e6edf3}}</style>
<section class="light">{html}</section><section class="dark">{html}</section>"""


def main() -> None:
    """Run the snippets and draw their output with a browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names = snippets((DOCS / "looking-at-data.md").read_text())
        for picture, (name, width, height) in PICTURES.items():
            html = names[name]._repr_html_().replace(folder, "/data")
            direction = "column" if picture == "array" else "row"
            page = Path(folder, "page.html")
            page.write_text(PAGE.format(html=html, direction=direction))
            target = DOCS / "pictures" / f"{picture}.png"
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            options += [f"--window-size={width},{height}", f"--screenshot={target}"]
            subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)
            print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


def snippets(text: str) -> dict[str, Any]:
    """Run the Python code of a document; return its names."""
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        examples = doctest.DocTestParser().get_examples(block)
        for source in [it.source for it in examples] or [block]:
            exec(source, names)
    return names


if __name__ == "__main__":
    main()
