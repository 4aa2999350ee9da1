"""Common behaviour of all commands: help, errors, locations, completion."""

import os
import subprocess
import sys
import warnings
from importlib import import_module

import click
import pytest
import zarr_core as zarr
from click.testing import CliRunner
from zarr_cli import errors
from zarr_cli.command_group import PROGRAM, cli
from zarr_cli.location import parse_location, parse_option, without_credentials
from zarr_cli.table import COMMANDS, module_name


@pytest.mark.parametrize("name", COMMANDS)
def test_table_matches_command_help(name, command):
    found = import_module(module_name(name)).command
    assert " ".join(found.help.split()).startswith(COMMANDS[name])
    shown = command(name, "--help")
    assert "--traceback" in shown
    assert all(len(line) <= 90 for line in shown.splitlines())


def test_help_lists_all_commands_without_importing_them():
    program = """
import sys
from zarr_cli.command_group import PROGRAM, cli
cli(["--help"], standalone_mode=False)
loaded = set(sys.modules)
assert not {"numpy", "zarr_core", "jsonschema"} & loaded, loaded
assert not [name for name in loaded if name.startswith("zarr_cli.commands")]
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    assert set(COMMANDS) <= set(words)


def test_script_and_module_return_exit_status(example_folder):
    for words in (["zarr-core"], [sys.executable, "-m", "zarr_cli"]):
        words[0] = os.path.join(os.path.dirname(sys.executable), words[0])
        done = subprocess.run(
            [*words, "info", "missing.zarr"], capture_output=True, text=True, cwd=example_folder
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: ")
        assert "no Zarr array or group here" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("words", "lines"), [("cat 3.zarr#height", 1), ("tree 3.zarr", 0), ("extensions --no-load", 0)]
)
def test_status_if_the_reader_of_the_output_ends(words, lines, example_folder):
    script = os.path.join(os.path.dirname(sys.executable), "zarr-core")
    command = f"{script} {words} | head -n {lines}; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, text=True, cwd=example_folder
    )
    *printed, status = done.stdout.splitlines()
    assert (done.stderr, len(printed)) == ("", lines)
    assert status in ("0", "141")


@pytest.mark.parametrize("module", ["click", "zarr_cli.command_group", "zarr_core", "numpy"])
def test_interrupt_during_imports_has_no_traceback(module, tmp_path):
    """Importing a module calls the handler of SIGINT, as if Ctrl+C was pressed."""
    program = f"""
import signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["zarr-core", "info", "missing.zarr"]
from zarr_cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "Interrupted."


def test_program_imports_only_constants_before_it_runs():
    program = "import sys; before = set(sys.modules); import zarr_cli.main\n"
    program += "print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['zarr_cli', 'zarr_cli.exit_status', 'zarr_cli.main']"


def test_usage_errors(command):
    assert "did you mean 'info'?" in command("inf", status=2)
    assert "Missing argument 'LOCATION'" in command("info", status=2)
    assert "'a' is not KEY=VALUE" in command("info", "-o", "a", "x.zarr", status=2)


def test_location_without_command_runs_info(here, command):
    assert command("3.zarr#height") == command("info", "3.zarr#height")


def test_unexpected_errors(here, monkeypatch, command):
    def broken(*args, **options):
        raise KeyError("gone")

    monkeypatch.setattr(zarr, "open", broken)
    shown = command("info", "3.zarr", status=1)
    assert shown.startswith("Error: KeyError: 'gone'\nThis error is unexpected")
    with pytest.raises(KeyError):
        cli(["info", "3.zarr", "--traceback"], standalone_mode=False)


def test_notes_of_errors_are_printed(here, monkeypatch, command):
    def broken_open(*args, **options):
        error = zarr.errors.StoreError("no space left on device", "here", "c/0")
        error.add_note("'/x': is incomplete; remove it with zarr_core.rmdir")
        raise error

    def interrupted(*args, **options):
        error = KeyboardInterrupt()
        error.add_note("'/x\x1b[2J': is incomplete")
        raise error

    monkeypatch.setattr(zarr, "open", broken_open)
    shown = command("info", "3.zarr", status=1)
    assert shown == (
        "Error: here 'c/0': no space left on device\n"
        "'/x': is incomplete; remove it with: zarr-core remove --force\n"
    )
    monkeypatch.setattr(zarr, "open", interrupted)
    assert command("info", "3.zarr", status=130) == "Interrupted.\n'/x\\x1b[2J': is incomplete\n"


def test_interrupt(here, monkeypatch, command):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(zarr, "open", interrupted)
    assert command("info", "3.zarr", status=130) == "Interrupted.\n"


def test_warnings_are_printed_as_text(capsys):
    before = warnings.showwarning
    context = click.Context(cli)
    with errors.report_errors(context), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = errors._show_warning
        warnings.warn("beware", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: beware\n"
    assert warnings.showwarning is before


@pytest.mark.parametrize(
    ("text", "url", "path"),
    [
        ("field.zarr", "field.zarr", ""),
        ("field.zarr#a/b/", "field.zarr", "a/b"),
        ("s3://bucket/a.zarr#/a", "s3://bucket/a.zarr", "a"),
        ("#a", ".", "a"),
        ("odd#name.zarr", "odd#name.zarr", ""),
    ],
)
def test_parse_location(text, url, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd#name.zarr").mkdir()
    location = parse_location(text)
    assert (location.url, location.path) == (url, path)


def test_storage_options_are_json_or_text():
    texts = ["a=1", "b=true", "c=us-east-1", 'd="1"', 'e={"anon": true}', "f=x=y", "g="]
    found = dict(map(parse_option, texts))
    assert found == {
        "a": 1, "b": True, "c": "us-east-1", "d": "1", "e": {"anon": True}, "f": "x=y", "g": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("s3://bucket/a", {"skip_signature": True}),
        ("az://bucket/a", {"skip_signature": True}),
        ("https://host/a", {}),
        ("fsspec+s3://bucket/a", {"anon": True}),
        ("simplecache::gs://bucket/a", {"gs": {"token": "anon"}}),
        ("simplecache::https://host/a", {"https": {}}),
    ],
)
def test_anonymous_options_per_library(url, options):
    assert without_credentials(url) == options


def test_storage_options_are_passed_to_the_store(command):
    refused = command("info", "https://127.0.0.1:1/a.zarr", "-o", "nonsense=3", status=1)
    assert "nonsense" in refused
    assert "Traceback" not in refused


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("info", "3.zarr", "-o", "a=1"), "has no options a"),
        (("copy", "3.zarr", "new.zip", "--dest-option", "nonsense=3"), "nonsense"),
        (("copy", "3.zarr", "new.zarr", "-o", "a=1"), "has no options a"),
        (
            ("create", "new.zarr", "--like", "3.zarr#height", "--like-option", "a=1"),
            "has no options a",
        ),
    ],
)
def test_storage_options_without_effect_are_rejected(here, command, arguments, reason):
    assert reason in command(*arguments, status=1)


def test_storage_options_of_a_missing_location_are_rejected(here, command):
    refused = command("convert", "3.zarr", "--dest-option", "a=1", status=2)
    assert "--dest-option requires DEST" in refused
    assert "requires --like" in command("create", "new.zarr", "--like-option", "a=1", status=2)


def test_zarr_format_option(here, query, command):
    both = zarr.open_group("2.zarr")
    zarr.create_group("both.zarr", zarr_format=2, attributes={"is": 2})
    zarr.create_group(zarr.LocalStore("both3.zarr"), attributes={"is": 3})
    os.rename("both3.zarr/zarr.json", "both.zarr/zarr.json")
    assert query("info", "both.zarr", "--zarr-format", "2")["attributes"] == {"is": 2}
    assert query("info", "both.zarr", "--zarr-format", "3")["attributes"] == {"is": 3}
    assert both.zarr_format == 2
    assert "no Zarr array or group here" in command(
        "info", "2.zarr", "--zarr-format", "3", status=1
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    instruction = {"_ZARR_CORE_COMPLETE": f"{shell}_source"}
    done = CliRunner().invoke(cli, prog_name="zarr-core", env=instruction)
    assert f"{shell}_complete" in done.stdout


def test_completion(here):
    def completed(*words):
        environment = {
            "_ZARR_CORE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["zarr-core", *words]),
            "COMP_CWORD": str(len(words)),
        }
        done = CliRunner().invoke(cli, [], env=environment, prog_name=PROGRAM)
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert completed("ch") == ["chunks", "check"]
    assert completed("info", "3.zarr#") == ["3.zarr#height", "3.zarr#north"]
    assert completed("cat", "3.zarr#north/s") == ["3.zarr#north/scalar", "3.zarr#north/shards"]
