"""``--json``: every command that prints data prints one documented JSON value."""

import json

import click
import h5py
import numpy as np
import pytest
import zarr_core as zarr
from zarr_cli.command_group import cli
from zarr_cli.table import COMMANDS as NAMES

COMMANDS = {
    "info": ["3.zarr", "--stored"],
    "tree": ["3.zarr", "--attrs"],
    "ls": ["3.zarr", "-lrs"],
    "cat": ["3.zarr#height", "0:2,0:3"],
    "attrs get": ["3.zarr#height"],
    "meta": ["2.zarr#height"],
    "chunks": ["3.zarr#height"],
    "plan": ["3.zarr#height", "0:2,0:3"],
    "check": ["3.zarr"],
    "digest": ["3.zarr"],
    "verify": ["3.zarr", "--manifest", "3.jsonl"],
    "portable": ["3.zarr"],
    "diff": ["3.zarr", "three.zip"],
    "bench codec": ["3.zarr#height", "--seconds", "0.1", "--only", "--also", "zstd:1"],
    "create": ["new.zarr", "--shape", "3"],
    "copy": ["3.zarr", "new.zarr"],
    "move": ["3.zarr", "new.zarr"],
    "remove": ["3.zarr", "--yes"],
    "convert": ["2.zarr", "new.zarr"],
    "rechunk": ["3.zarr#height", "new.zarr", "-c", "all"],
    "consolidate": ["3.zarr"],
    "import": ["elements.h5", "new.zarr"],
    "extensions": ["gzip"],
}
"""A command line for each command that prints data and ends."""

WITHOUT = {
    "attrs set": "prints nothing",
    "attrs rm": "prints nothing",
    "serve": "does not end; tested in test_serve.py",
}


def leaves():
    """Return the names of all commands, with their objects."""
    context = click.Context(cli)
    for name in NAMES:
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            for below, inner in command.commands.items():
                yield f"{name} {below}", inner
        else:
            yield name, command


def test_every_command_is_in_a_table():
    assert {name for name, _ in leaves()} == COMMANDS.keys() | WITHOUT.keys()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_command_prints_one_json_value(name, here, command):
    with h5py.File("elements.h5", "w") as file:
        file["x"] = np.arange(6)
    if name == "verify":
        command("digest", "3.zarr", "--manifest", "3.jsonl")
    printed = command(*name.split(), *COMMANDS[name], "--json")
    value = json.loads(printed)
    assert value
    assert printed.endswith("\n")


@pytest.mark.parametrize("name", [*COMMANDS, "serve"])
def test_help_documents_the_json_value(name):
    found = dict(leaves())[name]
    assert any("--json" in parameter.opts for parameter in found.params)
    assert "The JSON document of --json" in " ".join(found.help.split())


def test_fields_named_in_the_help_exist(here, query):
    """The help of these commands names all fields on the top level."""
    for name in ("check", "diff", "copy", "move", "consolidate", "remove"):
        about = " ".join(dict(leaves())[name].help.split()).partition("The JSON document")[2]
        document = query(*name.split(), *COMMANDS[name])
        if name in ("copy", "move"):
            zarr.rmdir("new.zarr") if name == "copy" else zarr.move(
                zarr.open("new.zarr", "r+"), "3.zarr"
            )
        assert not [field for field in document if field not in about], name


def test_other_forms_of_output_exclude_json(here, command):
    assert "cannot be combined" in command("meta", "3.zarr", "--raw", "--json", status=2)
    assert "cannot be combined" in command("cat", "3.zarr#height", "-f", "csv", "--json", status=2)
