"""The corpus as files: complete, stable, portable and valid."""

import gzip
import io
import json
import tarfile
import zlib
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from built_once import built_once
from zarr_conformance.corpus import archive
from zarr_conformance.corpus.archive import (
    CorpusError,
    case_digest,
    corpus_digest,
    is_portable,
    read_corpus,
    unpack,
)
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values

ROOT = Path(__file__).parents[2]
RELEASED = Path(__file__).with_name("released_cases.txt")
SCHEMA = json.loads((ROOT / "schemas" / "conformance" / "cases.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    folder = built_once(tmp_path_factory, "corpus", lambda folder: build(folder / "corpus.tar.gz"))
    return folder / "corpus.tar.gz"


def test_every_case_survives_the_archive(packed):
    cases = list(all_cases())
    found = read_corpus(packed)
    assert [it.id for it in found.cases] == [it.id for it in cases]
    different = [
        a.id for a, b in zip(cases, found.cases, strict=True) if case_digest(a) != case_digest(b)
    ]
    assert different == []
    assert found.digest == corpus_digest(cases)
    assert found.version.startswith("0.1.0+")


def test_the_archive_is_reproducible_and_small(packed, tmp_path):
    some = list(all_cases())[::20]
    for name in ("one.tar.gz", "two.tar.gz"):
        build(tmp_path / name, some)
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    assert packed.stat().st_size < 1_000_000


def test_the_archive_has_a_readme_a_license_and_schemas(packed):
    contents = unpack(packed.read_bytes())
    own = {it for it in contents if not it.startswith(("stores/", "values/", "input/"))}
    assert own == {
        "README.md",
        "LICENSE",
        "cases.json",
        "schemas/cases.json",
        "schemas/protocol.json",
    }
    assert json.loads(contents["cases.json"])["digest"].encode() in contents["README.md"]
    license_file = ROOT / "packages" / "zarr-conformance" / "LICENSE"
    assert contents["LICENSE"] == license_file.read_bytes()
    assert json.loads(contents["schemas/cases.json"]) == SCHEMA


def test_cases_are_valid_by_their_schema(packed):
    entries = json.loads(unpack(packed.read_bytes())["cases.json"])
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    problems = jsonschema.Draft202012Validator(SCHEMA).iter_errors(entries)
    assert [(list(it.absolute_path), it.message) for it in problems] == []


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="it compresses to other bytes")
def test_released_cases_do_not_change():
    """A case is never removed, and its id not used for another test.

    Add new cases when they are released; write the new digest of a case that was wrong.
    """
    released = dict(line.split() for line in RELEASED.read_text("utf-8").splitlines())
    digests = {it.id: case_digest(it)[:12] for it in all_cases()}
    assert {name: digests.get(name) for name in released} == released
    assert list(released) == sorted(released)


def test_ids_are_portable_names_of_directories():
    ids = {it.id for it in all_cases()}
    assert {it for it in ids if it != it.lower()} == set()
    parents = {"/".join(it.split("/")[:n]) for it in ids for n in range(1, it.count("/") + 1)}
    assert ids & parents == set()


def test_paths_of_requests_have_no_slashes_at_the_ends():
    assert [it.id for it in all_cases() if it.path != it.path.strip("/")] == []


def test_stores_that_not_every_file_system_holds():
    store = dict.fromkeys(("a/zarr.json", "b/c"), b"")
    case = Case("a/b/c", (), "It is.", "open", Reject("metadata"), store)
    assert is_portable(case)
    for key in ("A/zarr.json", "a:b", "x/c.", "x /c", "q?"):
        assert not is_portable(replace(case, store={**store, key: b""})), key


def test_every_member_of_a_case_is_packed(tmp_path):
    full = Case(
        id="a/b/c",
        clauses=("x",),
        summary="It is.",
        operation="write",
        expect=Accept(
            Node(
                "array", (2,), {"a": 1}, (None, "x"), Values(b"\1\2"), {"a": "group"},
                (None, [["x"], []]), {"zarr.json": {"b": [1]}}, {"c/0": b"\xff"}, ("c/1",),
            )
        ),
        store={"zarr.json": b"{}", "é/c": b"\0"},
        path="é",
        zarr_format=2,
        needs=("codec:zstd",),
        selection=((0, 1, 1),),
        document={"shape": [1]},
        calls=(("get", "a"),),
        elements=Values(b"[1]", "json"),
        shape=(3,),
        spelling="//é",
    )  # fmt: skip
    invalid = replace(full, id="a/b/d", expect=Reject("metadata", "extension", ("/a",)))
    assert all(getattr(full, name) for name in Case.__slots__), "a new member: add it above"
    assert all(getattr(full.expect.node, name) for name in Node.__slots__)
    build(tmp_path / "corpus.tar.gz", [full, invalid])
    assert list(read_corpus(tmp_path / "corpus.tar.gz").cases) == [full, invalid]
    build(tmp_path / "corpus", [full, invalid])
    assert list(read_corpus(tmp_path / "corpus").cases) == [full, invalid]


def repacked(contents):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path, data in contents.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(stream.getvalue())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it.update({"cases.json": b"{"}), "is not a corpus: JSONDecodeError"),
        (lambda it: it.pop("cases.json"), "is not a corpus: KeyError"),
        (lambda it: it.pop("stores/a/b/c/zarr.json"), "the digest of a/b/c does not match"),
        (lambda it: it.update({"stores/a/b/c/x": b""}), "the digest of a/b/c does not match"),
        (
            lambda it: it.update({"cases.json": it["cases.json"].replace(b'mat": 2', b'mat": 3', 1)}),
            "has format 3, expected 2",
        ),
        (
            lambda it: it.update({"cases.json": it["cases.json"].replace(b'"v2.array', b'"v9.array')}),
            "unknown clauses, as v9.array",
        ),
    ],
)  # fmt: skip
def test_damaged_archives(change, message, tmp_path):
    case = Case("a/b/c", (), "It is.", "open", Reject("metadata"), {"zarr.json": b"{}"})
    build(tmp_path / "corpus.tar.gz", [case])
    contents = unpack((tmp_path / "corpus.tar.gz").read_bytes())
    change(contents)
    (tmp_path / "corpus.tar.gz").write_bytes(repacked(contents))
    with pytest.raises(CorpusError, match=message):
        read_corpus(tmp_path / "corpus.tar.gz")


def test_files_that_are_no_archive(tmp_path):
    for content in (b"", b"x", gzip.compress(b"x"), gzip.compress(bytes(1024))[:-9]):
        (tmp_path / "corpus.tar.gz").write_bytes(content)
        with pytest.raises(CorpusError, match="is not a corpus"):
            read_corpus(tmp_path / "corpus.tar.gz")
    with pytest.raises(CorpusError, match="FileNotFoundError"):
        read_corpus(tmp_path / "none.tar.gz")


def test_stores_that_the_file_system_cannot_hold_are_left_out(tmp_path, monkeypatch):
    """Such cases are not judged, and the others are."""
    portable = Case("a/b/c", (), "It is.", "open", Reject("metadata"), {"zarr.json": b"{}"})
    other = replace(portable, id="a/b/d", store={"a:b/zarr.json": b"{}"})
    build(tmp_path / "corpus", [portable, other])
    (tmp_path / "corpus/stores/a/b/d/a:b/zarr.json").unlink()
    assert [it.id for it in read_corpus(tmp_path / "corpus").cases] == ["a/b/c"]

    write = Path.write_bytes

    def refuse(path, data):
        if ":" in str(path):
            raise OSError("invalid name")
        write(path, data)

    monkeypatch.setattr(archive.Path, "write_bytes", refuse)
    assert build(tmp_path / "windows", [portable, other]) == 2
    assert (tmp_path / "windows/stores/a/b/c/zarr.json").exists()
