"""The list of commands, to print the help without importing the commands."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command that is imported on use.

    Parameters
    ----------
    name : str
        The name of the command.
    target : str
        The click command: ``module:attribute``.
    summary : str
        The first sentence of its help.
    """

    name: str
    target: str
    summary: str


SECTIONS: dict[str, tuple[Entry, ...]] = {
    "Inspect": (
        Entry(
            "info", "zarr_cli.commands.info:command", "Show the properties of an array or a group."
        ),
        Entry(
            "tree",
            "zarr_cli.commands.tree:command",
            "Show arrays and groups as a tree, with shapes, data types, chunks.",
        ),
        Entry(
            "ls",
            "zarr_cli.commands.ls:command",
            "List the members of a group.",
        ),
        Entry(
            "cat",
            "zarr_cli.commands.cat:command",
            "Print the elements of an array, or of a selection of it.",
        ),
        Entry(
            "attrs",
            "zarr_cli.commands.attrs:command",
            "Read or change the attributes of an array or a group.",
        ),
        Entry(
            "meta",
            "zarr_cli.commands.meta:command",
            "Print the stored metadata of a node as JSON.",
        ),
        Entry(
            "chunks",
            "zarr_cli.commands.chunks:command",
            "Show a map of which chunks are stored and how large they are.",
        ),
        Entry(
            "plan",
            "zarr_cli.commands.plan:command",
            "Show what reading a selection would request, transfer, decode and need in memory.",
        ),
        Entry(
            "serve",
            "zarr_cli.commands.serve:command",
            "Serve a store read-only over HTTP, with a page to browse it.",
        ),
    ),
    "Check": (
        Entry(
            "check",
            "zarr_cli.commands.check:command",
            "Check all metadata and every chunk of a hierarchy.",
        ),
        Entry(
            "digest",
            "zarr_cli.commands.digest:command",
            "Compute one digest of a hierarchy, and its manifest.",
        ),
        Entry(
            "verify",
            "zarr_cli.commands.verify:command",
            "Compare a hierarchy with its manifest, and name each key that differs.",
        ),
        Entry(
            "portable",
            "zarr_cli.commands.portable:command",
            "Show which libraries read a hierarchy, and what stops the others.",
        ),
        Entry(
            "diff",
            "zarr_cli.commands.diff:command",
            "Compare two arrays or hierarchies.",
        ),
        Entry(
            "bench",
            "zarr_cli.commands.bench_codec:bench",
            "Compare codecs on the data of an array: bench codec.",
        ),
    ),
    "Change": (
        Entry(
            "create",
            "zarr_cli.commands.create:command",
            "Create an array, or a group if there are no array options.",
        ),
        Entry(
            "copy",
            "zarr_cli.commands.copy:command",
            "Copy an array or a group, with all nodes below it, to another location or store.",
        ),
        Entry(
            "move",
            "zarr_cli.commands.move:command",
            "Move an array or a group, with all nodes below it, to another location or store.",
        ),
        Entry(
            "remove",
            "zarr_cli.commands.remove:command",
            "Remove an array or a group, with all nodes below it.",
        ),
        Entry(
            "convert",
            "zarr_cli.commands.convert:command",
            "Convert an array, or a group with all nodes below it, to another format.",
        ),
        Entry(
            "rechunk",
            "zarr_cli.commands.rechunk:command",
            "Rewrite an array, or all arrays below a group, with other chunks, shards or codecs.",
        ),
        Entry(
            "consolidate",
            "zarr_cli.commands.consolidate:command",
            "Store the metadata of all nodes below a group in the group, to open it with one read.",
        ),
        Entry(
            "migrate",
            "zarr_cli.commands.migrate:migrate",
            "Migrate hierarchies to version 3, with the options of zarr-python.",
        ),
        Entry(
            "remove-metadata",
            "zarr_cli.commands.migrate:remove_metadata",
            "Remove the metadata documents of one version from a hierarchy, but no chunks.",
        ),
        Entry(
            "import",
            "zarr_cli.commands.import_:command",
            "Import an HDF5, NetCDF or NumPy file.",
        ),
    ),
    "Environment": (
        Entry(
            "extensions",
            "zarr_cli.commands.extensions:command",
            "List the installed extensions and whether they can be imported.",
        ),
        Entry(
            "completion",
            "zarr_cli.commands.completion:command",
            "Print a completion script for a shell.",
        ),
    ),
}
"""The commands, in the order and sections of ``zarr-core --help``."""

ENTRIES = {entry.name: entry for section in SECTIONS.values() for entry in section}
"""The commands by name."""
