"""The pages of the documentation: their snippets and install lines.

Needs the standard library only: ``python markdown_pages.py PAGE`` runs the snippets of one page in an
environment with only the packages that the page installs.
"""

import doctest
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^<!-- from (\S+) -->\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITHOUT_LINE = ["zarr-core[recommended]"]
"""The requirements of pages without an install line, according to docs/installing.md."""


def snippets(text):
    """Python blocks with the line before each, without those that show a file."""
    shown = {match.start(2) for match in SHOWN.finditer(text)}
    for match in BLOCK.finditer(text):
        if match[1] == "python" and match.start(2) not in shown:
            yield text.count("\n", 0, match.start(2)), match[2]


def has_snippets(document):
    return any(True for _ in snippets(document.read_text()))


def run_snippets(document):
    """Run the snippets of a page in the current directory; return the output of failures."""
    names = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report = []
    for line, code in snippets(document.read_text()):
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(
                code, names, document.name, str(document), line
            )
            runner.run(test, out=report.append, clear_globs=False)
            names = test.globs
        else:
            exec(compile("\n" * line + code, str(document), "exec"), names)
    return "".join(report) if runner.summarize(verbose=False).failed else ""


class Shell:
    """Runs command lines in this process, and keeps the status of the last."""

    def __init__(self):
        self.status = 0

    def run(self, line):
        import click
        from click.testing import CliRunner
        from zarr_cli.command_group import cli

        if line == "echo $?":
            return f"{self.status}\n"
        line, _, file = line.partition(" > ")
        program, *words = shlex.split(line)
        assert program == "zarr-core", line
        done = CliRunner().invoke(cli, words, env={"COLUMNS": "100"})
        self.status = done.exit_code
        if file:
            Path(file).write_bytes(done.stdout_bytes)
            return ""
        return click.unstyle(done.output)


def run_commands(document):
    """Run the command lines of a page, and the Python between them; return those with different output."""
    shell, names, report = Shell(), {}, []
    same = doctest.OutputChecker().check_output
    for match in BLOCK.finditer(document.read_text()):
        if match[1] == "python":
            exec(match[2], names)
        if match[1] == "console":
            for line, wanted in COMMAND.findall(match[2]):
                shown = shell.run(line)
                if not same(wanted, shown, FLAGS):
                    report.append(f"$ {line}\n{shown}")
    return "".join(report)


def install_lines(text):
    """The arguments of each ``pip install`` in the blocks of a page that are not Python."""
    for match in BLOCK.finditer(text):
        if match[1] in ("", "sh", "bash", "console"):
            for line in match[2].replace("\\\n", " ").splitlines():
                if line.startswith("pip install "):
                    yield shlex.split(line.removeprefix("pip install "), comments=True)


def requirements(text):
    """The requirements of all install lines of a page.

    Paths name example distributions in the repository.
    """
    found = []
    for words in install_lines(text):
        if "--find-links" in words:
            at = words.index("--find-links")
            words = words[:at] + words[at + 2 :]
        if not any(word.startswith("-") for word in words):  # -e: an earlier step creates it
            found += words
    return sorted({*found} or WITHOUT_LINE)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    failures = (run_commands if "\n```console\n" in page.read_text() else run_snippets)(page)
    print(failures)
    raise SystemExit(bool(failures))
