"""All cases: read from the archive in the wheel; in a checkout, those of the topics here.

A topic is a TOML file with rows of cases, a module that generates cases, or both.  They require
NumPy and numcodecs.  The wheel contains their output instead of them; see `hatch_build.py`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from zarr_conformance.corpus.archive import (
    PACKED,
    parse_corpus,
    unpack,
    write_archive,
    write_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from zarr_conformance.corpus.case import Case

TOPICS = (
    "v3_array",
    "v3_group",
    "v3_validate",
    "v3_extensions",
    "v3_data_types",
    "fill_value_rounding",
    "v3_chunks",
    "v3_codecs",
    "v3_blosc",
    "v3_codec_chains",
    "v3_sharding",
    "v3_sharding_corrupt",
    "v3_stores",
    "v3_filesystem",
    "v3_written",
    "v1",
    "v2_array",
    "v2_data_types",
    "v2_codecs",
    "v2_group",
    "v2_written",
    "draft_entry_point",
    "draft_hierarchy",
    "draft_array",
    "draft_data_types",
    "draft_chunks",
    "draft_sharding",
    "draft_create",
    "draft_written",
    "changes",
    "ext_zstd",
    "ext_bitround_scale_offset",
    "ext_cast_value",
    "ext_cast_value_invalid",
    "ext_packbits",
    "ext_reshape",
    "ext_vlen",
    "ext_conditional",
    "ext_n5_default",
    "ext_zfp",
    "ext_numeric_types",
    "ext_datetime",
    "ext_struct",
    "ext_utf32",
    "ext_rectilinear",
    "ext_rectilinear_invalid",
)
"""Topics: modules of this package with a function ``cases``, or TOML files for `table_cases`."""

_OPTIONAL = ("ext-", "v3-chunks/")
"""Prefixes of cases with optional extensions; core data types and codecs are expected."""


def all_cases() -> Iterator[Case]:
    """Return all cases, ordered by topic."""
    return iter(_cases())


@cache
def _cases() -> tuple[Case, ...]:
    packed = files("zarr_conformance.corpus") / PACKED
    if packed.is_file():
        return parse_corpus(unpack(packed.read_bytes()), PACKED).cases
    return generated_cases()


def generated_cases() -> tuple[Case, ...]:
    """Return the cases of all topics.

    Raises
    ------
    ValueError
        If two cases have the same id.
    """
    extensions = import_module("zarr_conformance.corpus.required_extensions")
    cases: dict[str, Case] = {}
    for topic in TOPICS:
        for case in _topic_cases(topic):
            if case.id in cases:
                raise ValueError(f"{topic}: duplicate case id {case.id}")
            cases[case.id] = (
                extensions.add_required_extensions(case) if case.id.startswith(_OPTIONAL) else case
            )
    return tuple(cases.values())


def _topic_cases(topic: str) -> Iterator[Case]:
    name = f"zarr_conformance.corpus.{topic}"
    if find_spec(name) is None:
        cases: Iterator[Case] = import_module("zarr_conformance.corpus.case_tables").table_cases(
            topic
        )
        return cases
    return iter(import_module(name).cases())


def build(target: Path, cases: Iterable[Case] | None = None, version: str = "") -> int:
    """Write the corpus to a directory, or to an archive if the name ends in ``.tar.gz``.

    The output is reproducible.

    Parameters
    ----------
    place : Path
        The directory or file; a directory is created if it does not exist.
    cases : iterable of Case, optional
        The cases to write; all of them if omitted.
    version : str
        The version of this package; that of the installed package if empty.

    Returns
    -------
    int
        The number of cases.

    Raises
    ------
    FileExistsError
        If the directory is not empty.
    """
    chosen = all_cases() if cases is None else cases
    write = write_archive if target.name.endswith(".tar.gz") else write_folder
    return write(target, chosen, version)
