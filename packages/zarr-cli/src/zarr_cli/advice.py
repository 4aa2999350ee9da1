"""Translation of the advice in library messages to command-line options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PHRASES: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"open it, or pass overwrite=True to remove it first": "--overwrite removes it first",
    r"; pass overwrite=True to remove it first": "; --overwrite removes it first",
    r"pass another path, or overwrite=True to remove it first": "--overwrite removes it first",
    r"pass overwrite=True to (remove existing contents|overwrite it)": "--overwrite removes it",
    r"pass overwrite=True": "use --overwrite",
    r"Use create_array or create_group to create a node": "Use zarr-core create to create a node",
    r'see if_exists="replace", "skip" and "update"': "--overwrite replaces it",
    r"bring it there with zarr_transfer.convert, or say how chunks are to be stored, as in "
    r'chunks="auto", serializer="auto", to have them decoded': "convert it with: zarr-core convert",
    r'copy again with if_exists="skip"': "copy again with --skip-existing",
    r"; log= lists all, copy_store copies all keys": "; to list all: zarr-core check",
    r"remove it with zarr_core\.rmdir": "remove it with: zarr-core remove --force",
    r"remove all keys with rmdir": "use --force to remove all keys",
    r"import again, without overwrite, to continue": "import again, without --overwrite, to continue",
    r"select one with source_format": "select one with --source-format",
    r"; convert it first, separately: path=(.*), source_format=(.*), zarr_format=(.*)": r"; convert "
    r"\1 first, separately: zarr-core convert --source-format \2 --zarr-format \3",
    r"use another dest(_path)?": "use another DEST",
    r"pass a dest": "pass a DEST",
    r'pass unsupported="skip" to skip': "pass --skip-unsupported to skip",
    r"pass external=True to (read|follow)": r"use --external to \1",
    r"Pass a larger timeout= if": "Pass a larger --timeout if",
    r"pass zarr_format=\.\.\. to choose": "pass --zarr-format or --source-format to choose",
    r"([;,]) use zarr_format=(\w+)": r"\1 use --zarr-format \2",
    r"create it with consolidate_metadata\(\)": "create it with: zarr-core consolidate",
    r"leave out order\b": "leave out --order",
    r"order=(?=.* codec|'|\")": "--order ",
    r"select fewer chunks, or pass most=\S*": "select fewer chunks with --at",
    r"  With soft=True, a ChunkLayout is rounded": "",
    r"in the order of the dimensions, such as (chunks|shards)=\((\d+), (\d+)\)": r"in the order of "
    r"the dimensions, such as --\1 \2,\3",
    r"(chunks|shards)=(?=\S)": r"--\1 ",
    r"pass dtype=(\S+) or dtype=(\S+) for": r"use --dtype \1 or \2 for",
    r"use dtype=str for text, dtype=bytes for bytes": "use --dtype string for text, bytes for bytes",
    r"\(dtype=object\)": "(object)",
    # The settings are set in the environment.
    r"zarr_core\.config\.set\(providers=\{'([^']*)': '([^']*)'\}\)": r'export ZARR_CORE_PROVIDERS="\1=\2"',
    r"zarr_core\.config\.set\(reserved_names=\"warn\"\)": "export ZARR_CORE_RESERVED_NAMES=warn",
    r"zarr_core\.config\.set\(max_metadata_nbytes=\.\.\.\)": "export ZARR_CORE_MAX_METADATA_NBYTES=...",
    r"\. To disable this warning: zarr_core\.config\.set\(fallback='use'\)": "",
    r",? or pass its class: zarr_core\.override_extensions\(.*?\}\}\)": "",
    r"temporarily: from zarr_codecs\.pickle .*": "in Python: see zarr_codecs.pickle.",
    r"; use zarr_core\.(create_array|save)\(.*numpy\.load.*": r"; in Python: see zarr_core.\1 and numpy.load",
    # Arguments of stores are given with -o.
    r"pass storage_options=\{['\"](\w+)['\"]: (\w+)\}": lambda found: (
        f"pass -o {found[1]}={found[2].lower()}"
    ),
    r"(?<![-\w])((?:connect_|retry_)?timeout)=(?=\w)": r"-o \1=",
    r"password_variable='NAME'": "-o password_variable=NAME",
    r"pass them in the URL or as fo=": "pass them in the URL or with -o fo=...",
    r"pass the URL as target=": "pass the URL with -o target=...",
    r"is not allowed by allow=": "is not allowed by -o allow=",
    r"pass its directory in allow=": "pass its directory with -o allow=[...]",
}
"""Advice for Python, as regular expressions -> advice for the command line."""

_COMPILED = [(re.compile(pattern), advice) for pattern, advice in PHRASES.items()]


def to_command_line(text: str) -> str:
    """Return a message with the advice for the command line."""
    for pattern, advice in _COMPILED:
        text = pattern.sub(advice, text)
    return text
