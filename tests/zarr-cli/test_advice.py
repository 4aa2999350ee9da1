"""Advice of the libraries in the terms of the shell."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from markdown_pages import ROOT
from zarr_cli.advice import PHRASES, to_command_line
from zarr_core.known_extensions import FORMAT_EXTENSIONS

LIBRARIES = ("core", "transfer", "import", "stores", "formats", "display", "grids")
PYTHON = re.compile(
    r"zarr_\w+\.\w+\(|\b(overwrite|external|metadata_only|soft)=|zarr_core\.(config|override)"
    r"|(?<!-o )(?<![-\w])(zarr_format|source_format|timeout|if_exists|unsupported|storage_options)="
)
OTHER_CALLS = (
    "pass only one of them",  # if_exists="skip" is --skip-existing, checked by the command
    "with metadata_only=True, its chunks are kept",  # no command resizes
    "A class needs an entry point",  # no command takes a class
    "contradicts",  # zarr_format= and a URL pipeline: the messages name both
    "copy_store again with",
    "pass zarr_core.open(",  # a mapping as a source
    "pass what zarr_core.open returns",
    "from zarr_import.reader_process",  # a program
    "executor must be a CopyExecutor",  # no command takes an executor
    "x_like(array, store=group",  # names of zarr-python, which no command uses
    "plan_selection(array, selection)",  # likewise
    "override_extensions(extensions) around",  # likewise: extensions= of zarr-python
    "zarr_core.empty_like(data), which",  # likewise
    "timeout= reads the file in another process",  # commands pass paths
)
"""Parts of texts that no command can print, or that are not advice."""


@cache
def messages():
    """Return the texts of the libraries that can be messages, with their files."""
    found = [(Path("known_extensions.json"), text) for text in FORMAT_EXTENSIONS.values()]
    for name in LIBRARIES:
        for file in (ROOT / f"packages/zarr-{name}/src").rglob("*.py"):
            tree = ast.parse(file.read_text())
            documentation = {
                id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
            }
            inner = {
                id(part)
                for node in ast.walk(tree)
                if isinstance(node, ast.JoinedStr)
                for part in node.values
            }
            for node in ast.walk(tree):
                if id(node) in documentation | inner:
                    continue
                if isinstance(node, ast.JoinedStr):
                    parts = [
                        part.value if isinstance(part, ast.Constant) else "x"
                        for part in node.values
                    ]
                    found.append((file, "".join(map(str, parts))))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append((file, node.value))
    return found


def test_no_message_gives_advice_for_python():
    left = [
        (Path(file).name, advice)
        for file, text in messages()
        if " " in text
        and PYTHON.search(text)
        and PYTHON.search(advice := to_command_line(text))
        and not any(it in text for it in OTHER_CALLS)
    ]
    assert not left


def test_every_phrase_is_in_a_message():
    texts = "\n".join(text for _, text in messages())
    unused = [
        pattern
        for pattern in PHRASES
        if not (re.search(pattern, texts) or re.search(pattern.replace("\\w+", "x"), texts))
    ]
    assert not unused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "to select it: zarr_core.config.set(providers={'codec.gzip': 'zarr-codecs'})",
            'to select it: export ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs"',
        ),
        (
            "Install the distribution that provides it (entry-point group zarr_core.codec), or "
            "pass its class: zarr_core.override_extensions({'codec': {'x': ...}}).",
            "Install the distribution that provides it (entry-point group zarr_core.codec).",
        ),
        (
            "pass storage_options={'conditional': False}",
            "pass -o conditional=false",
        ),
    ],
)
def test_examples(text, expected):
    assert to_command_line(text) == expected
