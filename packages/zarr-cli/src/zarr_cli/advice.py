"""Translation of the advice in library messages to command-line options."""

from __future__ import annotations

PHRASES = {
    "open it, or pass overwrite=True to remove it first": "--overwrite removes it first",
    "; pass overwrite=True to remove it first": "; --overwrite removes it first",
    "Use create_array or create_group to create a node": "Use zarr-core create to create a node",
    'see if_exists="replace", "skip" and "update"': "--overwrite replaces it",
    "bring it there with zarr_transfer.convert, or say how "
    'chunks are to be stored, as in chunks="auto", serializer="auto", to have them decoded': "convert "
    "it with: zarr-core convert",
    'copy again with if_exists="skip"': "copy again with --skip-existing",
    "remove it with zarr_core.rmdir": "remove it with: zarr-core remove --force",
    "remove all keys with rmdir": "use --force to remove all keys",
    "select one with source_format": "select one with --source-format",
    "use another dest_path": "use another DEST",
    "use another dest": "use another DEST",
    "pass a dest": "pass a DEST",
    'pass unsupported="skip" to skip it': "pass --skip-unsupported to skip it",
    'pass unsupported="skip" to skip such objects': "pass --skip-unsupported to skip such objects",
    "pass another path, or overwrite=True to remove it first": "--overwrite removes it first",
    "pass overwrite=True to remove existing contents": "--overwrite removes it",
    "Pass a larger timeout= if": "Pass a larger --timeout if",
    "pass zarr_format=... to choose": "pass --zarr-format or --source-format to choose",
    "; use zarr_format=2": "; use --zarr-format 2",
    "make it with consolidate_metadata()": "create it with: zarr-core consolidate",
}
"""Advice for Python -> advice for the command line."""


def to_command_line(text: str) -> str:
    """Return a message with the advice for the command line."""
    for phrase, replacement in PHRASES.items():
        text = text.replace(phrase, replacement)
    return text
