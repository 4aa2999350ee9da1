"""The corpus as files: ``cases.json`` and the stores, in a directory or an archive.

=================== ==========================================================================
``cases.json``      the specifications, their clauses and all cases
``stores/<id>/``    the directory store of a case: a file for each key
``values/<id>``     the elements that a case reads, or that are stored after it wrote
``input/<id>``      the elements that a case writes, if they are only a part of the array
=================== ==========================================================================

``cases.json`` has the form of ``schemas/conformance/cases.json``.  The digest of a case is the
SHA-256 of its entry and its files; the digest of the corpus is that of the digests of its cases.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import io
import json
import tarfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import specifications
from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FORMAT = 2
"""The version of the form of ``cases.json``."""

PACKED = "corpus.tar.gz"
"""The archive in the wheel, in this package."""

_PLAIN = ("id", "clauses", "summary", "operation", "zarr_format")
"""Members of a case that are always present, beside ``store``, ``path`` and ``expect``."""

_NODE = tuple(field.name for field in dataclasses.fields(Node))
_DEFAULTS = {
    field.name: field.default
    for field in dataclasses.fields(Case)
    if field.default is not dataclasses.MISSING
}
_RESERVED = frozenset('<>:"\\|?*')
"""Characters that names of files on Windows cannot have."""


class CorpusError(ValueError):
    """A directory or archive is not a corpus that this version can read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus.

    Parameters
    ----------
    version : str
        The version of the package that wrote it, and the first digits of the digest.
    digest : str
        The SHA-256 of its contents.
    cases : tuple of Case
        The cases, in the order of the corpus.
    """

    version: str
    digest: str
    cases: tuple[Case, ...]


# --- a case as JSON ---


def as_json(case: Case) -> dict[str, Any]:
    """Return a case as JSON; members without a value are omitted.

    Stores and elements are not part of it; ``store`` and the members ``file`` name their files.
    """
    entry: dict[str, Any] = {name: _plain(getattr(case, name)) for name in _PLAIN}
    entry |= {"store": f"stores/{case.id}", "path": case.path, "expect": _expectation(case)}
    if not is_portable(case):
        entry["portable"] = False
    for name, default in _DEFAULTS.items():
        value = getattr(case, name)
        if name in entry or value == default:
            continue
        entry[name] = _file("input", case, value) if isinstance(value, Values) else _plain(value)
    return entry


def _expectation(case: Case) -> dict[str, Any]:
    expect = case.expect
    if isinstance(expect, Reject):
        categories = [item for item in (expect.category, expect.also) if item]
        pointers = {"pointers": list(expect.pointers)} if expect.pointers else {}
        return {"outcome": "reject", "categories": categories, **pointers}
    entry: dict[str, Any] = {"outcome": "accept" if isinstance(expect, Accept) else "either"}
    for name in _NODE:
        value = getattr(expect.node, name)
        if value is None or value == ():
            continue
        if isinstance(value, Values):
            entry[name] = _file("values", case, value)
        elif name == "stored":
            entry[name] = {key: base64.b64encode(data).decode() for key, data in value.items()}
        else:
            entry[name] = _plain(value)
    return entry


def _file(folder: str, case: Case, values: Values) -> dict[str, Any]:
    return {"file": f"{folder}/{case.id}", "kind": values.kind}


def _plain(value: Any) -> Any:
    """Return a value with lists instead of tuples."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def is_portable(case: Case) -> bool:
    """Return whether Windows and macOS can hold the store of a case as files."""
    paths = {"/".join(parts[:n]) for key in case.store if (parts := key.split("/")) for n in range(1, len(parts) + 1)}  # fmt: skip
    names = {name for key in case.store for name in key.split("/")}
    return len({path.casefold() for path in paths}) == len(paths) and not any(
        _RESERVED & set(name) or name.endswith((".", " ")) for name in names
    )


def from_json(entry: Mapping[str, Any], contents: Mapping[str, bytes]) -> Case:
    """Return a case from its JSON form.

    Parameters
    ----------
    entry : mapping
        As returned by :func:`as_json`.
    contents : mapping of str to bytes
        The files of the corpus that belong to the case, by their paths.
    """
    members = {name: entry[name] for name in _PLAIN}
    for name in _DEFAULTS.keys() & entry.keys() - {"store"}:
        members[name] = _values(entry[name], contents) if _is_file(entry[name]) else entry[name]
    for name, value in members.items():
        if name != "document" and isinstance(value, list):
            members[name] = tuple(tuple(item) if isinstance(item, list) else item for item in value)
    prefix = f"{entry['store']}/"
    store = {
        path.removeprefix(prefix): data
        for path, data in contents.items()
        if path.startswith(prefix)
    }
    return Case(**members, expect=_parse_expectation(entry["expect"], contents), store=store)


def _parse_expectation(entry: Mapping[str, Any], contents: Mapping[str, bytes]) -> Any:
    if entry["outcome"] == "reject":
        category, *also = entry["categories"]
        return Reject(category, "".join(also), tuple(entry.get("pointers", ())))
    members = {name: entry[name] for name in _NODE if name in entry}
    for name, value in members.items():
        if name == "stored":
            members[name] = {key: base64.b64decode(data) for key, data in value.items()}
        elif _is_file(value):
            members[name] = _values(value, contents)
        elif isinstance(value, list):
            members[name] = tuple(value)
    return (Accept if entry["outcome"] == "accept" else Either)(Node(**members))


def _is_file(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"file", "kind"}


def _values(entry: Mapping[str, Any], contents: Mapping[str, bytes]) -> Values:
    return Values(contents[entry["file"]], entry["kind"])


# --- the contents of a corpus ---


def case_files(case: Case) -> dict[str, bytes]:
    """Return the files of a case by their paths in the corpus."""
    contents = {f"stores/{case.id}/{key}": value for key, value in case.store.items()}
    node = case.expect.node if isinstance(case.expect, Accept | Either) else None
    for folder, holder in (("values", node), ("input", case)):
        for name in holder.__dataclass_fields__ if holder is not None else ():
            if isinstance(value := getattr(holder, name), Values):
                contents[f"{folder}/{case.id}"] = value.data
    return contents


def case_digest(case: Case) -> str:
    """Return the SHA-256 of a case: of its JSON form and its files."""
    hashed = hashlib.sha256(json.dumps(as_json(case), sort_keys=True).encode())
    for path, data in sorted(case_files(case).items()):
        hashed.update(f"\n{path!r} {len(data)} ".encode() + data)
    return hashed.hexdigest()


def corpus_digest(cases: Iterable[Case]) -> str:
    """Return the digest of the corpus, which identifies its contents."""
    return hashlib.sha256("\n".join(map(case_digest, cases)).encode()).hexdigest()


def corpus_version(cases: Iterable[Case], release: str = "") -> str:
    """Return the version of a corpus: of the package, and the first digits of the digest."""
    return f"{release or version('zarr-conformance')}+{corpus_digest(cases)[:8]}"


def manifest(cases: Iterable[Case], release: str = "") -> dict[str, Any]:
    """Return the contents of ``cases.json``.

    Parameters
    ----------
    cases : iterable of Case
        The cases.
    release : str
        The version of this package; that of the installed package if empty.
    """
    listed = list(cases)
    return {
        "format": FORMAT,
        "version": corpus_version(listed, release),
        "digest": corpus_digest(listed),
        "specifications": [
            {
                name: getattr(specification, name)
                for name in ("name", "title", "url", "repository", "commit")
            }
            for specification in specifications().values()
        ],
        "clauses": [
            {name: getattr(clause, name) for name in clause.__slots__} | {"link": text.link(clause)}
            for text in specifications().values()
            for clause in text.clauses
        ],
        "cases": [as_json(case) | {"digest": case_digest(case)} for case in listed],
    }


# --- writing ---


def write_folder(folder: Path, cases: Iterable[Case], release: str = "") -> int:
    """Write the corpus to a directory and return the number of cases.

    Every case has a directory in ``stores``, also if its store is empty.  A file that the file
    system cannot hold is left out; see ``portable`` in ``cases.json``.

    Raises
    ------
    FileExistsError
        If the directory is not empty.
    """
    listed = list(cases)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    for case in listed:
        (folder / "stores" / case.id).mkdir(parents=True)
        for path, data in case_files(case).items():
            try:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            except OSError:
                if is_portable(case):
                    raise
    for path, data in _texts(listed, release).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return len(listed)


def write_archive(file: Path, cases: Iterable[Case], release: str = "") -> int:
    """Write the corpus as ``.tar.gz`` and return the number of cases.  It is reproducible."""
    listed = list(cases)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in _texts(listed, release).items():
            _add(tar, path, data)
        for case in listed:
            for path, data in sorted(case_files(case).items()):
                _add(tar, path, data)
    with file.open("wb") as opened, gzip.GzipFile("", "wb", 9, opened, mtime=0) as stream:
        stream.write(packed.getvalue())
    return len(listed)


def _add(tar: tarfile.TarFile, path: str, data: bytes) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = len(data), 0o644
    tar.addfile(member, io.BytesIO(data))


def _texts(cases: list[Case], release: str) -> dict[str, bytes]:
    """Return the files of a corpus that do not belong to a case."""
    entries = manifest(cases, release)
    package = files("zarr_conformance")
    about = (package / "corpus" / "README.txt").read_text("utf-8")
    for name in ("version", "digest"):
        about = about.replace(f"@{name.upper()}@", entries[name])
    return {
        "README.md": about.encode(),
        "LICENSE": (package / "corpus" / "LICENSE.txt").read_bytes(),
        "cases.json": f"{json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode(),
        **{
            f"schemas/{name}.json": (
                package / "schemas" / "conformance" / f"{name}.json"
            ).read_bytes()
            for name in ("cases", "protocol")
        },
    }


# --- reading ---


def read_corpus(location: Path) -> Corpus:
    """Read a corpus from a directory or an archive.

    Parameters
    ----------
    place : Path
        Written by :func:`write_folder` or :func:`write_archive`.

    Raises
    ------
    CorpusError
        If it cannot be read, has another format, or is damaged.
    """
    try:
        if location.is_dir():
            contents = {
                item.relative_to(location).as_posix(): item.read_bytes()
                for item in _below(location)
            }
        else:
            contents = unpack(location.read_bytes())
    except (OSError, tarfile.TarError, EOFError) as error:
        raise CorpusError(f"{location} is not a corpus: {type(error).__name__}: {error}") from error
    return parse_corpus(contents, str(location))


def _below(folder: Path) -> Iterator[Path]:
    return (item for item in sorted(folder.rglob("*")) if item.is_file())


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files in an archive by their paths."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data)), mode="r:") as tar:
        opened = ((item, tar.extractfile(item)) for item in tar if item.isfile())
        return {
            str(PurePosixPath(member.name)): stream.read() for member, stream in opened if stream
        }


def parse_corpus(contents: Mapping[str, bytes], location: str = "the corpus") -> Corpus:
    """Return a corpus from its files, by their paths.

    Raises
    ------
    CorpusError
        If it has another format, or is damaged.  Cases that are not portable are left out if the
        file system could not hold them.
    """
    try:
        entries = json.loads(contents["cases.json"])
        if entries["format"] != FORMAT:
            raise CorpusError(f"{location} has format {entries['format']!r}, expected {FORMAT}")
        owned = _owned(contents)
        cases = tuple(from_json(item, owned.get(item["id"], {})) for item in entries["cases"])
        unknown = {item["id"] for item in entries["clauses"]} - {
            clause.id for text in specifications().values() for clause in text.clauses
        }
    except CorpusError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorpusError(f"{location} is not a corpus: {type(error).__name__}: {error}") from error
    if unknown:
        raise CorpusError(
            f"{location} has unknown clauses, as {min(unknown)}; update zarr-conformance"
        )
    complete = []
    for case, entry in zip(cases, entries["cases"], strict=True):
        if case_digest(case) == entry["digest"]:
            complete.append(case)
        elif entry.get("portable", True):
            raise CorpusError(f"{location} is damaged: the digest of {case.id} does not match")
    return Corpus(entries["version"], entries["digest"], tuple(complete))


def _owned(contents: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    """Return the files of the cases by their ids, none of which contains another one."""
    ids = {case["id"] for case in json.loads(contents["cases.json"])["cases"]}
    owned: dict[str, dict[str, bytes]] = {}
    for path, data in contents.items():
        folder, _, rest = path.partition("/")
        if folder in ("values", "input"):
            owned.setdefault(rest, {})[path] = data
        elif folder == "stores":
            parts = rest.split("/")
            for n in range(2, len(parts)):
                if (name := "/".join(parts[:n])) in ids:
                    owned.setdefault(name, {})[path] = data
                    break
    return owned
