"""A newcomer who has only the README: from a clone to an array, and to a codec."""

import os
import re
import resource
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from empty_environment import OUTSIDE
from markdown_pages import BLOCK, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ARRAY_SECONDS, CODEC_SECONDS = 180, 600
"""The limits, as processor time: a busy machine does not change it."""


def spent():
    """Return the processor time of all child processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def commands(text):
    """Return the lines of the blocks of a page that are commands."""
    return [
        line
        for match in BLOCK.finditer(text)
        if match[1] in ("", "sh", "bash")
        for line in match[2].splitlines()
        if re.match(r"make wheels|pip |zarr-conformance |pytest ", line)
    ]


def python_blocks(text):
    return [match[2] for match in BLOCK.finditer(text) if match[1] == "python"]


def statements(code):
    """Return the input of a block, with or without prompts."""
    if ">>> " not in code:
        return code
    lines = [line for line in code.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(line[4:] for line in lines)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a clone")
    target = tmp_path_factory.mktemp("newcomer") / "zarr-core"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(target)], check=True)
    return target


@pytest.fixture(scope="module")
def shell(clone):
    """Return a function that runs a command in the clone, in a new environment."""
    home = clone.parent / "environment"
    venv.create(home, with_pip=True)
    variables = OUTSIDE | {
        "PATH": f"{home / 'bin'}{os.pathsep}{OUTSIDE['PATH']}", "VIRTUAL_ENV": str(home),
    }  # fmt: skip

    def run(*words, text=None):
        done = subprocess.run(
            words if len(words) > 1 else ["/bin/sh", "-c", words[0]],
            cwd=clone, env=variables, input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    return run


def test_from_a_clone_to_an_array_and_a_codec(clone, shell):
    begun = spent()
    readme = (clone / "README.md").read_text()
    lines = commands(readme)
    assert lines[0] == "make wheels"
    for line in lines[:2]:
        shell(f"{line} PYTHON={sys.executable}" if line.startswith("make") else line)
    program = "\n".join(map(statements, python_blocks(readme)))
    shell("python", "-", text=program)
    reader = (
        "import zarr; array = zarr.open_array('survey.zarr', path='north/elevation', mode='r'); "
        "assert array.shards == (2048, 2048); print(array[1099, 2099])"
    )
    read = subprocess.run(
        [sys.executable, "-c", reader], cwd=clone, capture_output=True, text=True, check=True
    )
    assert float(read.stdout) == 99 * 99 // 100
    assert spent() - begun < ARRAY_SECONDS

    for line in lines[2:]:
        printed = shell(line)
    assert re.search(r"\d+ passed", printed)
    listed = shell("python", "-c", "import zarr_core as z; print(z.installed_extensions())")
    assert "my.xor" in listed
    assert spent() - begun < CODEC_SECONDS
    assert Path(clone / "my-xor").is_dir()
