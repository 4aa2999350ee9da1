"""What errors of the library advise, in the words of the command line."""

from __future__ import annotations

PHRASES = {
    "open it, or give overwrite=True to remove it first": "--overwrite removes it first",
    "; give overwrite=True to remove it first": "; --overwrite removes it first",
    "To create a node, say so: create_array, create_group": "To make a node: zarr-core create",
    'see if_exists="replace", "skip" and "update"': "--overwrite replaces it",
    "bring it there with zarr_formats.conversion.convert (pip install zarr-formats), or say how "
    'chunks are to be stored, as in chunks="auto", serializer="auto", to have them decoded': "bring "
    "it there with: zarr-core convert",
    "remove all keys whatever they are with rmdir": "remove all keys whatever they are with --force",
    "choose by source_format": "choose by --source-format",
    "give another dest_path": "give another DEST",
    "give another dest": "give another DEST",
    "give a dest": "give a DEST",
    'unsupported="skip" leaves it out': "--skip-unsupported leaves it out",
    'unsupported="skip" leaves such things out': "--skip-unsupported leaves such things out",
    "give another path, or overwrite=True to remove it first": "--overwrite removes it first",
    "give overwrite=True to remove what is there": "--overwrite removes what is there",
    "zarr_format=... chooses": "--zarr-format or --source-format chooses",
    "zarr_format=2 has one": "--zarr-format 2 has one",
    "make it with consolidate_metadata()": "zarr-core consolidate makes it",
}
"""Advice for those who write Python -> advice for those who type commands."""


def typed(text: str) -> str:
    """A message with advice for those who type commands."""
    for phrase, words in PHRASES.items():
        text = text.replace(phrase, words)
    return text
