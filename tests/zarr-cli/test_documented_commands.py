"""What the documents show of the command line is what it prints."""

import doctest
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from zarr_cli.main import cli

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SAME = doctest.OutputChecker().check_output
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Shell:
    """Runs command lines in this process, and remembers the status of the last."""

    def __init__(self):
        self.status = 0

    def run(self, line):
        if line == "echo $?":
            return f"{self.status}\n"
        program, *words = shlex.split(line)
        assert program == "zarr-core", line
        done = CliRunner().invoke(cli, words, env={"COLUMNS": "100"})
        self.status = done.exit_code
        return click.unstyle(done.output)


@pytest.mark.parametrize("document", ["docs/command-line.md"])
def test_commands_print_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell, names = Shell(), {}
    for language, code in BLOCK.findall((ROOT / document).read_text()):
        if language == "python":
            exec(code, names)
            continue
        for line, wanted in COMMAND.findall(code):
            shown = shell.run(line)
            assert SAME(wanted, shown, FLAGS), f"$ {line}\n{shown}"
