"""Rules for source files."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("packages", "examples", "benchmarks", "demo", "scripts", "schemas", "docs", "tests")
TEXT = {".py", ".md", ".toml", ".json"}

PLACES = re.compile(r"(?<![\w.}~])/(?:work|opt|root|home)/")
LEFT_OVER = re.compile(
    r"\b(?:TO"
    r"DO|FIX"
    r"ME|X"
    r"XX|HA"
    r"CK)\b|pragma: no"
    r" cover|raise NotImplemented"
    r"Error"
)
EXCEPTION = re.compile(r"#\s*(?:noqa|type: ignore)(.*)")
WITH_REASON = re.compile(r"(?:: [A-Z0-9, ]+|\[[a-z, -]+\]) +(?:- |# )\w")


def files(*folders, suffixes=frozenset({".py"})):
    """Source files, without the output of tools in hidden and build folders."""
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*")):
            parts = file.relative_to(ROOT / folder).parts
            if any(part.startswith((".", "__pycache__")) for part in parts) or "results" in parts:
                continue
            if file.suffix in suffixes and file.is_file():
                yield file


CODE = {
    str(file.relative_to(ROOT)): file.read_text()
    for file in files("packages", "examples", "benchmarks", "demo", "scripts")
}


def first_line(text):
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def test_the_files_are_found():
    assert len(CODE) > 100


def test_every_file_has_a_summary_line():
    first = {name: first_line(text) for name, text in CODE.items() if text.strip()}
    assert not [name for name, line in first.items() if not line.endswith((".", ":"))]


def test_nothing_is_left_over():
    assert not {name: found for name, text in CODE.items() if (found := LEFT_OVER.findall(text))}


def test_exceptions_to_the_tools_have_reasons():
    without = [
        f"{name}:{number}"
        for name, text in CODE.items()
        for number, line in enumerate(text.splitlines(), 1)
        for found in EXCEPTION.finditer(line)
        if not WITH_REASON.match(found[1])
    ]
    assert not without


def test_no_file_contains_machine_paths():
    top = (file for file in ROOT.iterdir() if file.suffix in TEXT or file.name == "Makefile")
    everything = [*files(*FOLDERS, suffixes=TEXT), *top, ROOT / ".ci" / "run"]
    found = {
        str(file.relative_to(ROOT)): found.group()
        for file in everything
        if (found := PLACES.search(file.read_bytes().decode("utf-8", "replace")))
    }
    assert not found
