"""One demand of a specification."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LEVELS = ("must", "must not", "should", "should not", "may")
"""The words of RFC 2119 that the texts use, the strongest first."""

_ID = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*\Z").match


@dataclass(frozen=True, slots=True)
class Clause:
    """One demand.

    Parameters
    ----------
    id : str
        Ours, never changed once published: ``<specification>.<what it is about>``.
    specification : str
        The text: the name of the file it is kept in.
    section : str
        The heading under which it stands.
    level : {"must", "must not", "should", "should not", "may"}
        How strong it is.
    text : str
        What is demanded, in one sentence of our own.
    judged : bool
        Whether behaviour can show it.  A demand on authors of specifications, or on people,
        is listed and not judged.
    negative : bool
        Whether there is something to be refused, so that a case must show that it is.
    """

    id: str
    specification: str
    section: str
    level: str
    text: str
    judged: bool = True
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Specification:
    """A text with its demands, in the order of the text."""

    name: str
    title: str
    url: str
    clauses: tuple[Clause, ...]


@cache
def specifications() -> dict[str, Specification]:
    """All texts by their names.

    Raises
    ------
    ValueError
        If one of the files is wrong; says which, and where.
    """
    found = {}
    for file in sorted(files("zarr_conformance.clauses").iterdir(), key=lambda it: it.name):
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            found[name] = read(name, file.read_text("utf-8"))
    return found


@cache
def clauses() -> dict[str, Clause]:
    """Every clause of every text by its id."""
    return {clause.id: clause for text in specifications().values() for clause in text.clauses}


def read(name: str, text: str) -> Specification:
    """Read the clauses of one text.

    Parameters
    ----------
    name : str
        Of the specification; every id begins with it and a dot.
    text : str
        TOML: ``title``, ``url``, then ``[[clause]]`` tables.

    Raises
    ------
    ValueError
        If something is wrong with it.
    """
    content = tomllib.loads(text)
    found: list[Clause] = []
    seen: set[str] = set()
    for entry in content.pop("clause"):
        clause = Clause(specification=name, **_checked(name, entry))
        if clause.id in seen:
            raise ValueError(f"{name}.toml: {clause.id} is there twice")
        seen.add(clause.id)
        found.append(clause)
    return Specification(name, content.pop("title"), content.pop("url"), tuple(found))


def _checked(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    where = f"{name}.toml: {entry.get('id', entry)}"
    if not _ID(entry["id"]) or not entry["id"].startswith(f"{name}."):
        raise ValueError(f"{where}: an id is lower-case words after {name!r} and a dot")
    if entry["level"] not in LEVELS:
        raise ValueError(f"{where}: no such level as {entry['level']!r}")
    if not entry["text"].endswith("."):
        raise ValueError(f"{where}: is not said in a sentence")
    return entry
