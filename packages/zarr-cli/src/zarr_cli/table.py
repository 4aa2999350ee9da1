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
            "tree",
            "zarr_cli.commands.tree:command",
            "Arrays and groups as a tree, with shapes, data types, chunks.",
        ),
        Entry(
            "ls",
            "zarr_cli.commands.ls:command",
            "The names of the members of a group.",
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
            "chunks",
            "zarr_cli.commands.chunks:command",
            "Which chunks are stored, how large they are: a map.",
        ),
        Entry(
            "serve",
            "zarr_cli.commands.serve:command",
            "Serve a store by HTTP for reading, with a page to look at it in a browser.",
        ),
    ),
    "Judge": (
        Entry(
            "validate",
            "zarr_cli.commands.validate:command",
            "Whether all metadata of a hierarchy are valid.",
        ),
        Entry(
            "check",
            "zarr_cli.commands.check:command",
            "Whether every chunk of a hierarchy can be read.",
        ),
        Entry(
            "diff",
            "zarr_cli.commands.diff:command",
            "Where two arrays or hierarchies differ.",
        ),
        Entry(
            "bench",
            "zarr_cli.commands.bench_codec:bench",
            "Measure what suits a hierarchy: bench codec.",
        ),
    ),
    "Change": (
        Entry(
            "create",
            "zarr_cli.commands.create:command",
            "Make an array, or a group if nothing is said of an array.",
        ),
        Entry(
            "copy",
            "zarr_cli.commands.copy:command",
            "Copy an array or a group, with all below it, to another place or store.",
        ),
        Entry(
            "move",
            "zarr_cli.commands.move:command",
            "Move an array or a group, with all below it, to another place or store.",
        ),
        Entry(
            "remove",
            "zarr_cli.commands.remove:command",
            "Remove an array or a group, with all below it.",
        ),
        Entry(
            "convert",
            "zarr_cli.commands.convert:command",
            "Convert an array, or a group with all below it, to another format.",
        ),
        Entry(
            "rechunk",
            "zarr_cli.commands.rechunk:command",
            "Write an array, or all arrays below a group, in other chunks, shards or codecs.",
        ),
        Entry(
            "consolidate",
            "zarr_cli.commands.consolidate:command",
            "Copy the documents of all nodes below a group into its own: it then opens by one read.",
        ),
        Entry(
            "migrate",
            "zarr_cli.commands.migrate:migrate",
            "Bring hierarchies of older versions to a newer one, with the words of zarr-python.",
        ),
        Entry(
            "remove-metadata",
            "zarr_cli.commands.migrate:remove_metadata",
            "Remove the documents of one version from a hierarchy, and leave all chunks.",
        ),
        Entry(
            "import",
            "zarr_cli.commands.import_:command",
            "Bring a file of HDF5, NetCDF or NumPy into a hierarchy.",
        ),
    ),
    "Around": (
        Entry(
            "extensions",
            "zarr_cli.commands.extensions:command",
            "Which extensions are installed, which of them work.",
        ),
        Entry(
            "completion",
            "zarr_cli.commands.completion:command",
            "Print what has a shell complete the words of commands.",
        ),
    ),
}
"""The commands as ``zarr-core --help`` lists them."""

ENTRIES = {entry.name: entry for section in SECTIONS.values() for entry in section}
"""The commands by their names."""
