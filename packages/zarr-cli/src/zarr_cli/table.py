"""The list of commands, to print the help without importing the commands."""

from __future__ import annotations

SECTIONS: dict[str, dict[str, str]] = {
    "Inspect": {
        "info": "Show the properties of an array or a group.",
        "tree": "Show arrays and groups as a tree, with shapes, data types, chunks.",
        "ls": "List the members of a group.",
        "cat": "Print the elements of an array, or of a selection of it.",
        "attrs": "Read or change the attributes of an array or a group.",
        "meta": "Print the stored metadata of a node as JSON.",
        "chunks": "Show a map of which chunks are stored and how large they are.",
        "plan": "Show which chunks reading a selection would fetch and decode.",
        "serve": "Serve a store read-only over HTTP, with a page to browse it.",
    },
    "Check": {
        "check": "Check all metadata and every chunk of a hierarchy.",
        "digest": "Compute one digest of a hierarchy, and its manifest.",
        "verify": "Compare a hierarchy with its manifest, and name each key that differs.",
        "portable": "Show which libraries read a hierarchy, and what stops the others.",
        "diff": "Compare two arrays or hierarchies.",
        "bench": "Compare codecs on the data of an array: bench codec.",
    },
    "Change": {
        "create": "Create an array; without array options, a group.",
        "copy": "Copy an array or a group, with all nodes below it, to another location or store.",
        "move": "Move an array or a group, with all nodes below it, to another location or store.",
        "remove": "Remove an array or a group, with all nodes below it.",
        "convert": "Convert an array, or a group with all nodes below it, to another format.",
        "rechunk": (
            "Rewrite an array, or all arrays below a group, with other chunks, shards or codecs."
        ),
        "consolidate": (
            "Store the metadata of all nodes below a group in the group, to open it with one read."
        ),
        "import": "Import an HDF5 or NetCDF file.",
    },
    "Environment": {
        "extensions": "List the installed extensions and whether they can be imported.",
    },
}
"""Names and summaries, in the order and sections of ``zarr-core --help``."""

COMMANDS = {name: summary for section in SECTIONS.values() for name, summary in section.items()}
"""The first sentence of the help of each command."""


def module_name(command: str) -> str:
    """Return the module of a command, which has it as ``command``."""
    name = "import_" if command == "import" else command.replace("-", "_")
    return f"zarr_cli.commands.{name}"
