"""Which commands there are: what is needed to list them without importing any."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command that is imported when it is used.

    Parameters
    ----------
    name : str
        As it is typed.
    home : str
        Where the click command is: ``module:attribute``.
    summary : str
        The first sentence of its help.
    """

    name: str
    home: str
    summary: str


SECTIONS: dict[str, tuple[Entry, ...]] = {
    "Look": (
        Entry("info", "zarr_cli.commands.info:command", "What an array or a group is, as a table."),
        Entry(
            "serve",
            "zarr_cli.commands.serve:command",
            "Serve a store by HTTP for reading, with a page to look at it in a browser.",
        ),
        Entry(
            "tree",
            "zarr_cli.commands.tree:command",
            "The arrays and groups below a group, with shapes, data types, chunks.",
        ),
        Entry(
            "cat",
            "zarr_cli.commands.cat:command",
            "The elements of an array, or of a part of it.",
        ),
        Entry(
            "attrs",
            "zarr_cli.commands.attrs:command",
            "Read or change the attributes of an array or a group.",
        ),
        Entry(
            "meta",
            "zarr_cli.commands.meta:command",
            "The metadata of a node as it is stored: JSON.",
        ),
        Entry(
            "ls",
            "zarr_cli.commands.ls:command",
            "The names of the members of a group; those of groups end in a slash.",
        ),
    ),
    "Judge": (
        Entry(
            "validate",
            "zarr_cli.commands.validate:command",
            "Whether the metadata of a node, and of all below it, are valid.",
        ),
    ),
    "Change": (),
    "Around": (
        Entry(
            "completion",
            "zarr_cli.commands.completion:command",
            "Print what makes a shell complete the words of this command.",
        ),
    ),
}
"""The commands as ``zarr-core --help`` lists them."""

ENTRIES = {entry.name: entry for section in SECTIONS.values() for entry in section}
"""The commands by their names."""
