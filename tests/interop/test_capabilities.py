"""Capabilities of the documents that this library follows: each is shown or has a reason against it.

The documents are the documentation of zarr-python 2, the specification of version 2, the draft of
version 3 of December 2022, xarray's encoding, and TensorStore's zarr3 driver.  Each line of
``capabilities.txt`` has one capability, in the section of its document:

- ``capability :: code``: the code shows it; its last part is an expression, which is true.
- ``capability -> path::test``: a test shows it; ``*`` stands for the tests of a file, or a class.
- ``capability -> page#section``: a section of the documentation, which is run, shows it.
- ``capability -- sentence``: why it is not wanted.

The clauses of the specifications have tables of their own, with one line per clause.
"""

import ast
import json
import os
import pickle
import re
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import zarr_compat.api as compat
import zarr_core as zarr
import zarr_core.extension as zarr_extension
from markdown_pages import BLOCK
from zarr_compat import parse_units
from zarr_core import extension
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.zip import ZipStore

numcodecs = pytest.importorskip("numcodecs")
fsspec = pytest.importorskip("fsspec")

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).parent / "capabilities.txt"


class Row(NamedTuple):
    document: str
    section: str
    capability: str
    form: str
    shown_by: str


def rows():
    document = section = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("# "):
            document = line[2:]
        else:
            match = re.fullmatch(r"(.+?) (::|->|--) (.+)", line)
            assert match, f"an incomplete line: {line!r}"
            yield Row(document, section, *match.groups())


ROWS = [*rows()]


def of(form):
    chosen = [row for row in ROWS if row.form == form]
    return pytest.mark.parametrize(
        "row", chosen, ids=[f"{row.section}: {row.capability}" for row in chosen]
    )


# --- code ---


class Dataset:
    """An object with the interface of a dataset of h5py."""

    shape, dtype = (4,), np.dtype("i8")

    def __getitem__(self, key):
        return np.arange(4)[key]

    def __array__(self, dtype=None, copy=None):
        return np.arange(4)


class Minimal(zarr.Store):
    """A store with the operations that have no default."""

    def __init__(self):
        self.values = {}

    @property
    def url(self):
        return "minimal://"

    def get(self, key):
        return self.values.get(key)

    def set(self, key, value):
        self.values[key] = b"".join(value) if isinstance(value, list) else bytes(value)

    def erase(self, key):
        self.values.pop(key, None)

    def list_prefix(self, prefix):
        return iter([key for key in self.values if key.startswith(prefix)])


def refuses(call):
    """The message of the error that a call raises; empty if it raises none."""
    try:
        call()
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def raises(kind, call):
    with pytest.raises(kind):
        call()
    return True


def from_path(place, zarr):
    return zarr.open(Path(place), "w", shape=3)


def with_setting(call, **settings):
    with zarr.config.set(**settings):
        return call()


def with_group(group):
    with group as entered:
        entered.create_group("a")
    return [*group]


def in_threads(call, items):
    with ThreadPoolExecutor(8) as pool:
        return [*pool.map(call, items)]


def metadata_of(array, name="zarr.json"):
    return json.loads(bytes(array.store.get(name)))


def numbers():
    return zarr.array(np.arange(42, dtype="i4").reshape(7, 6), chunks=(3, 2))


def group():
    g = zarr.group()
    g.create_array("foo/bar/baz", data=np.arange(4, dtype="i4"), chunks=2)
    return g


def records():
    fields = [("foo", "S3"), ("bar", "i4"), ("baz", "f8")]
    return zarr.array(np.array([(b"aaa", 1, 4.2), (b"bbb", 2, 8.4)], fields), zarr_format=2)


def v2(attributes=None, **members):
    """Open an array of version 2 by its document, with other members."""
    document = {
        "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "compressor": None,
        "fill_value": 0, "order": "C", "filters": None, **members,
    }  # fmt: skip
    values = {".zarray": encoded(document)}
    if attributes is not None:
        values[".zattrs"] = encoded(attributes)
    return zarr.open(zarr.MemoryStore(values), mode="r+")


def v2_without(name):
    document = json.loads(bytes(v2().store.get(".zarray")))
    del document[name]
    return zarr.open(zarr.MemoryStore({".zarray": encoded(document)}))


def files(place):
    root = Path(place)
    return [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]


CORE = "https://purl.org/zarr/spec/core/3.0"
ENTRY_POINT = {
    "zarr_format": CORE,
    "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
    "extensions": [],
}


def draft(entry=(), path="foo/baz", **members):
    """Open an array of the draft by its document, with other members of both documents."""
    document = {
        "shape": [4, 6],
        "data_type": "int32",
        "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 0, "extensions": [], "attributes": {},
        **members,
    }  # fmt: skip
    values = {"zarr.json": encoded(ENTRY_POINT | dict(entry))}
    values[f"meta/{path}.array.json"] = encoded(document)
    return zarr.open(zarr.MemoryStore(values), path=path, mode="r+")


def draft_without(name):
    store = draft().store
    document = json.loads(bytes(store.get("meta/foo/baz.array.json")))
    del document[name]
    store.set("meta/foo/baz.array.json", encoded(document))
    return zarr.open(store, path="foo/baz")


def uri(extension, type_, **members):
    """A definition of an extension of the draft."""
    return {"extension": f"https://purl.org/zarr/spec/{extension}", "type": type_, **members}


def codec_2022(name, **configuration):
    uri = f"https://purl.org/zarr/spec/codecs/{name}/1.0"
    return [{"type": uri, "configuration": configuration}]


def encoded(document):
    return json.dumps(document).encode()


def filled(array, values=None):
    """The array with consecutive numbers, or the values."""
    array[...] = np.arange(array.size).reshape(array.shape) if values is None else values
    return array


def stored(array, key, dtype="u1"):
    """The numbers that a key of the store of an array contains."""
    return np.frombuffer(bytes(array.store.get(key)), dtype).tolist()


# What the code of a line can use; names of CREATED are created again for each line with them.
KNOWN = {
    "zarr": zarr, "inner_order": lambda array: extension.inner_order(array.stored.codecs), "zarr_extension": zarr_extension, "compat": compat, "parse_units": parse_units, "np": np,
    "numcodecs": numcodecs, "pickle": pickle, "json": json, "refuses": refuses, "raises": raises,
    "from_path": from_path, "with_setting": with_setting, "Dataset": Dataset, "Minimal": Minimal,
    "metadata_of": metadata_of, "v2": v2, "v2_without": v2_without, "files": files, "zipfile": zipfile, "fsspec": fsspec, "in_threads": in_threads, "with_group": with_group, "ZipStore": ZipStore, "DBMStore": DBMStore,
    "encoded": encoded, "draft_without": draft_without, "ENTRY_POINT": ENTRY_POINT, "CORE": CORE,
    "draft": draft, "uri": uri, "codec_2022": codec_2022,
    "filled": filled, "stored": stored, "exists": lambda *path: os.path.exists(os.path.join(*path)),
}  # fmt: skip
CREATED = {
    "z": numbers, "g": group, "s": records, "xr": lambda: pytest.importorskip("xarray"),
}  # fmt: skip


@of("::")
@pytest.mark.filterwarnings("ignore")
def test_the_code_shows_the_capability(row, request):
    tree = ast.parse(row.shown_by)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = KNOWN | {name: create() for name, create in CREATED.items() if name in used}
    if "place" in used:
        known["place"] = str(request.getfixturevalue("tmp_path") / "place")
    *statements, last = tree.body
    exec(compile(ast.Module(statements, []), row.capability, "exec"), known)
    assert isinstance(last, ast.Expr), "the last part is an expression"
    assert eval(compile(ast.Expression(last.value), row.capability, "eval"), known)


# --- tests and pages ---


@cache
def names_of_tests(path):
    """The names of the tests in a file, and of the classes that contain tests."""
    tree = ast.parse((ROOT / path).read_text())
    kinds = {ast.FunctionDef: "test_", ast.ClassDef: "Test"}
    return {
        node.name
        for node in ast.walk(tree)
        if type(node) in kinds and node.name.startswith(kinds[type(node)])
    }


def has_examples(page, title):
    """Whether a section of a page, which other tests run, has Python code."""
    text = (ROOT / page).read_text()
    start = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert start, f"{page} has no section {title!r}"
    end = re.compile(rf"^#{{1,{len(start[1])}}} ", re.MULTILINE).search(text, start.end())
    section = text[start.end() : end.start() if end else None]
    return any(match[1] == "python" for match in BLOCK.finditer(section))


@of("->")
def test_the_named_test_exists(row):
    if row.shown_by.startswith("tests/"):
        path, name = row.shown_by.split("::")
        assert names_of_tests(path) if name == "*" else name in names_of_tests(path)
    else:
        assert has_examples(*row.shown_by.split("#"))


def test_a_reason_is_a_sentence():
    reasons = [row for row in ROWS if row.form == "--"]
    assert not [row for row in reasons if not re.fullmatch(r".{15,}\.", row.shown_by)]


def test_every_capability_has_one_row():
    counted = Counter(row[:3] for row in ROWS)
    assert not [key for key, count in counted.items() if count > 1]
    assert len({row.document for row in ROWS}) == 5
