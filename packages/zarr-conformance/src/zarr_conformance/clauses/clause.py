"""Clauses: the testable statements of the specifications."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVELS = ("must", "must not", "should", "should not", "may")
"""The key words of RFC 2119, strongest first."""

_ID = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*\Z").match
_LINES = re.compile(r"[1-9][0-9]*(-[1-9][0-9]*)?\Z").match
_COMMIT = re.compile(r"[0-9a-f]{40}\Z").match


@dataclass(frozen=True, slots=True)
class Clause:
    """A statement of a specification.

    Parameters
    ----------
    id : str
        ``<specification>.<name>``; ids are stable.
    specification : str
        The name of the specification: the name of its TOML file.
    section : str
        The section of the specification.
    level : {"must", "must not", "should", "should not", "may"}
        The requirement level.
    text : str
        A summary in one sentence.
    lines : str
        The lines of the sentence in the pinned text: ``"12-14"``.
    untested : str
        Why cases cannot test the clause; empty if they can. Requirements on specifications and
        on users are listed, but not tested.
    negative : bool
        Whether the clause excludes something, so that it needs a case that must fail.
    binds_reader : bool
        Whether the text requires readers to raise an error for what the clause excludes.  If not,
        the text only says that such a document is invalid, and a reader that accepts it violates
        no requirement.
    """

    id: str
    specification: str
    section: str
    level: str
    text: str
    lines: str
    untested: str = ""
    negative: bool = False
    binds_reader: bool = False

    @property
    def tested(self) -> bool:
        """Whether cases can test the clause."""
        return not self.untested


@dataclass(frozen=True, slots=True)
class Specification:
    """A specification with its clauses.

    Parameters
    ----------
    name, title : str
        The name of its TOML file, and its title.
    url : str
        The address of the current text.
    clauses : tuple of Clause
        Its clauses.
    repository, commit : str
        The repository on GitHub and the commit of the text with which the clauses were compared.
    sections : mapping of str to str
        The file and the line of each section in that commit: ``docs/index.rst#L12``.
    without_clause : mapping of str to list of str
        Places of sentences with key words that are not clauses, such as
        ``docs/index.rst#L12-14``, by the reason.
    """

    name: str
    title: str
    url: str
    clauses: tuple[Clause, ...]
    repository: str
    commit: str
    sections: Mapping[str, str]
    without_clause: Mapping[str, list[str]]

    def file(self, clause: Clause) -> str:
        """Return the file that contains a clause."""
        return self.sections[clause.section].partition("#")[0]

    def link(self, clause: Clause) -> str:
        """Return the address of the sentence of a clause, in the text of the commit."""
        first, _, last = clause.lines.partition("-")
        lines = f"L{first}-L{last}" if last else f"L{first}"
        url = f"{self.repository}/blob/{self.commit}/{self.file(clause)}"
        return f"https://github.com/{url}?plain=1#{lines}"


@cache
def specifications() -> dict[str, Specification]:
    """Return all specifications by name.

    Raises
    ------
    ValueError
        If a TOML file is invalid.
    """
    by_name = {}
    for file in sorted(files("zarr_conformance.clauses").iterdir(), key=lambda item: item.name):
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            by_name[name] = parse_specification(name, file.read_text("utf-8"))
    return by_name


@cache
def clauses() -> dict[str, Clause]:
    """Return all clauses by id."""
    return {
        clause.id: clause
        for specification in specifications().values()
        for clause in specification.clauses
    }


def parse_specification(name: str, text: str) -> Specification:
    """Parse the clauses of one specification.

    Parameters
    ----------
    name : str
        The name of the specification, the prefix of all ids.
    text : str
        TOML: ``title``, ``url``, ``repository``, ``commit``, the tables ``[sections]`` and
        ``[without_clause]``, then ``[[clause]]`` tables.

    Raises
    ------
    ValueError
        If the TOML is invalid.
    """
    content = {"without_clause": {}} | tomllib.loads(text)
    parsed: list[Clause] = []
    seen: set[str] = set()
    for entry in content.pop("clause"):
        clause = Clause(specification=name, **_validate(name, entry))
        if clause.id in seen:
            raise ValueError(f"{name}.toml: duplicate id {clause.id}")
        seen.add(clause.id)
        parsed.append(clause)
    known = {
        item: content.pop(item)
        for item in ("title", "url", "repository", "commit", "sections", "without_clause")
    }
    if not _COMMIT(known["commit"]):
        raise ValueError(f"{name}.toml: commit must be 40 hexadecimal digits")
    if without := {item.section for item in parsed} - known["sections"].keys():
        raise ValueError(f"{name}.toml: no place for the section {min(without)!r} in [sections]")
    return Specification(name, clauses=tuple(parsed), **known)


def _validate(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    where = f"{name}.toml: {entry.get('id', entry)}"
    if not _ID(entry["id"]) or not entry["id"].startswith(f"{name}."):
        raise ValueError(f"{where}: id must be {name!r}, a period and lower-case words")
    if entry["level"] not in LEVELS:
        raise ValueError(f"{where}: unknown level {entry['level']!r}")
    if not entry["text"].endswith("."):
        raise ValueError(f"{where}: text must end with a period")
    if not _LINES(entry["lines"]):
        raise ValueError(f"{where}: lines must be a line or a range such as '12-14'")
    if not entry.get("untested", ".").endswith("."):
        raise ValueError(f"{where}: untested must be a sentence that ends with a period")
    return entry
