"""Data in older formats written by this library, read bit for bit by the original libraries.

First, the elements of every array in their stores are replaced; the metadata is unchanged.
"""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_core
from old_format_arrays import ATTRIBUTES, CHUNKS, draft_2021, n5, version_1, version_2
from old_libraries import need, read_all, same_bits
from recording import unpack

FIXTURES = Path(__file__).parents[1] / "fixtures"
READERS = {
    # Folder of stores: the library that reads them, the kind of store.
    "v1/zarr-python-1.0": ("zarr1.0", "directory"),
    "v1/zarr-python-1.1": ("zarr1", "directory"),
    "v2/zarr-python-2.1": ("zarr2", "directory"),
    "v2/zarr-python-2.4": ("zarr2", "directory"),
    "v2/zarr-python-2.18": ("zarr2", "directory"),
    "v2/zarr-python-3.1": ("zarr3", "directory"),
    "v2/tensorstore-0.1": ("tensorstore", "zarr"),
    "draft-2021/zarr-python-2.18": ("zarr2", "draft"),
    "n5/zarr-python-2.18": ("zarr2", "n5"),
    "n5/tensorstore-0.1": ("tensorstore", "n5"),
    "n5/text": ("zarr2", "n5"),
}
STORES = [
    file.relative_to(FIXTURES).with_suffix("").as_posix()
    for folder in READERS
    for file in sorted((FIXTURES / folder).glob("*.json"))
]
CANNOT_READ = {
    # Not supported by the old libraries, whoever wrote it: version 0 of N5, LZ4 of the Java
    # library, compressors without settings, infinite parts of complex fill values.
    "n5/text/compressions": re.compile("version_0/.*|lz4.*|bzip2|gzip|xz"),
    # The fill value 0 for data that is not numeric: rejected, or read as the text "0".
    "v2/zarr-python-2.1/defaults": re.compile("complex|fields|bytes|text"),
    "v2/zarr-python-2.18/fill_values": re.compile("complex_inf"),
}
CANNOT_WRITE = re.compile("compression_blosc_snappy.*")
"""The Blosc of numcodecs only reads Snappy."""

UNTOUCHED = {"v2/zarr-python-2.18/store_zip", "v2/zarr-python-2.18/pickles"}
"""A zip archive is not written to; nothing of ours pickles."""


def record_of(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return record


def read_back(reader: str, places: list[tuple[str, Path, str]]) -> list[dict[str, Any]]:
    """Read arrays, each by the kind of its store, with another library; skip the test if it is missing."""
    if reader == "zarr3":
        return [_by_zarr_python(store, path) for _, store, path in places]
    if reader == "tensorstore":
        return [_by_tensorstore(kind, store / path) for kind, store, path in places]
    return read_all(need(reader), places)


def _by_zarr_python(store: Path, path: str) -> dict[str, Any]:
    zarr = pytest.importorskip("zarr")
    with warnings.catch_warnings(action="ignore"):
        try:
            array = zarr.open_array(store, path=path, mode="r", zarr_format=2)
            return {"attributes": array.attrs.asdict(), "values": np.asarray(array[...])}
        except Exception as error:
            return {"error": repr(error)}


def _by_tensorstore(driver: str, place: Path) -> dict[str, Any]:
    tensorstore = pytest.importorskip("tensorstore")
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{place}/"}}
    try:
        array = tensorstore.open(spec, open=True).result()
        return {"values": np.asarray((array.T if driver == "n5" else array).read().result())}
    except ValueError as error:
        return {"error": repr(error)}


def turned(values: np.ndarray) -> np.ndarray:
    """The same values in reverse order."""
    return values[(..., *[slice(None, None, -1)] * values.ndim)]


@pytest.mark.parametrize("folder", READERS)
def test_old_libraries_read_what_we_write_into_their_stores(folder, tmp_path):
    """One process reads all stores of a library, because starting it takes most of the time."""
    reader, kind = READERS[folder]
    expected = {}
    for name in STORES:
        if name.rpartition("/")[0] != folder or name in UNTOUCHED:
            continue
        record = record_of(name)
        is_nested = record["store"] == "NestedDirectoryStore"
        written = write_again(name, record, tmp_path / Path(name).name)
        expected |= {("nested" if is_nested else kind, *key): it for key, it in written.items()}
    wrong = {}
    answers = read_back(reader, list(expected))
    for (key, (values, attributes)), answer in zip(expected.items(), answers, strict=True):
        if "error" in answer:
            wrong[key] = answer["error"]
        elif not same_bits(answer["values"], values):
            wrong[key] = (answer["values"], values)
        elif reader != "tensorstore":
            # zarr-python also shows its internal attributes.
            stored = {key: value for key, value in answer["attributes"].items() if key != "filters"}
            if json.dumps(stored, sort_keys=True) != json.dumps(attributes, sort_keys=True):
                wrong[key] = (stored, attributes)
    assert not wrong


def write_again(
    name: str, record: dict[str, Any], store: Path
) -> dict[tuple[Path, str], tuple[np.ndarray, dict[str, Any]]]:
    """Replace the elements of the arrays of a store; return what the old library must read."""
    with zipfile.ZipFile(FIXTURES / f"{name}.zip") as archive:
        archive.extractall(store)
    expected = {}
    for path, node in record["nodes"].items():
        if node["kind"] != "array" or "damaged" in node:
            continue
        place, inner = (store / path, "") if record.get("separate") else (store, path)
        array = zarr_core.open(place, mode="r+", path=inner)
        values = turned(unpack(node["dtype"], node["shape"], node["data"]))
        if CANNOT_WRITE.fullmatch(path):
            with pytest.raises(zarr_core.errors.CodecError, match="snappy"):
                array[...] = values
            continue
        array[...] = values
        if values.ndim and values.size:
            # A part of the first chunks, which are stored.
            array[:1] = values[-1:]
            values = np.concatenate([values[-1:], values[1:]])
        array.attrs["written"] = ["again", 1]
        if not (name in CANNOT_READ and CANNOT_READ[name].fullmatch(path)):
            attributes = {**node["attributes"], "written": ["again", 1]}
            expected[place, inner] = values, attributes
    return expected


NEW = {
    # Format: its arrays, whether each has its own store, the library and kind of store to read them.
    "v2": (version_2(), False, [("zarr2", "directory"), ("zarr3", ""), ("tensorstore", "zarr")]),
    "v1": (version_1(), True, [("zarr1", "directory"), ("zarr1.0", "directory")]),
    "draft-2021": (draft_2021(), False, [("zarr2", "draft")]),
    "n5": (n5(), False, [("zarr2", "n5"), ("tensorstore", "n5")]),
}


UNSUPPORTED = {
    "zarr3": re.compile("structure_(nested|subarray)|object_.*"),
    "tensorstore": re.compile(
        "(kind|big)_[SUVMm].*|structure_.*|text|bytes|object_.*|fill_(bytes|text|time)|filter_.*"
        "|compressed_(lzma|lz4)"
    ),
}
"""Names of arrays with data types, filters or compressors that a reader does not have."""


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """Returns the values that another library reads from new arrays; one process for each format."""
    stores: dict[str, Path] = {}
    problems: dict[str, dict[str, Exception]] = {}
    remembered: dict[tuple[str, str], dict[str, Any]] = {}

    def answer_of(form: str, reader: str, name: str) -> dict[str, Any]:
        cases, separate, readers = NEW[form]
        if form not in stores:
            stores[form] = tmp_path_factory.mktemp(form)
            problems[form] = write_anew(form, stores[form], cases, separate)
        if (form, reader) not in remembered:
            store = stores[form]
            kind = dict(readers)[reader]
            places = [
                (kind, store / name, "") if separate else (kind, store, name) for name in cases
            ]
            read = read_back(reader, places)
            remembered[form, reader] = dict(zip(cases, read, strict=True))
        if name in problems[form]:
            raise problems[form][name]
        return remembered[form, reader][name]

    return answer_of


def write_anew(form: str, store: Path, cases: Any, separate: bool) -> dict[str, Exception]:
    """Write all arrays; return the errors by array."""
    problems: dict[str, Exception] = {}
    if not separate:
        zarr_core.create_group(store, zarr_format=form, attributes=ATTRIBUTES)
    for name, (values, options) in cases.items():
        options = {"chunks": CHUNKS[: values.ndim], "dtype": values.dtype, **options}
        try:
            array = zarr_core.create_array(
                store / name if separate else store,
                path=None if separate else name,
                shape=values.shape,
                zarr_format=form,
                attributes=ATTRIBUTES,
                **options,
            )
            array[...] = values
        except zarr_core.errors.ZarrError as problem:
            problems[name] = problem
    return problems


@pytest.mark.parametrize(
    ("form", "reader", "name"),
    [
        (form, reader, name)
        for form, (cases, _, readers) in NEW.items()
        for reader, _ in readers
        for name in cases
        if reader not in UNSUPPORTED or not UNSUPPORTED[reader].fullmatch(name)
    ],
)
def test_old_libraries_read_recreated_arrays(answer, form, reader, name):
    values = NEW[form][0][name][0]
    read = answer(form, reader, name)
    assert "error" not in read
    assert same_bits(read["values"], values), f"{read['values']!r}\nis not\n{values!r}"
    if reader != "tensorstore":
        read["attributes"].pop("filters", None)
        assert read["attributes"] == ATTRIBUTES


HIERARCHY = {
    "": {"title": "Höhen", "number": 1},
    "a": {"level": 1},
    "a/b": {},
    "a/b/c.d": {"units": "m"},
}
"""Groups, the deepest an array."""


def make_hierarchy(form: str, store: Path) -> None:
    *groups, last = HIERARCHY
    for path in groups:
        zarr_core.create_group(
            store, path=path or None, zarr_format=form, attributes=HIERARCHY[path]
        )
    array = zarr_core.create_array(
        store, path=last, data=np.arange(6), chunks=4, zarr_format=form, attributes=HIERARCHY[last]
    )
    assert array.zarr_format == zarr_core.open(store, mode="r").zarr_format


@pytest.mark.parametrize(
    ("form", "kind"), [("v2", "directory"), ("draft-2021", "draft"), ("n5", "n5")]
)
def test_old_libraries_find_our_groups_and_attributes(form, kind, tmp_path):
    make_hierarchy(form, tmp_path / "store")
    places = [(kind, tmp_path / "store", path) for path in HIERARCHY]
    answers = dict(zip(HIERARCHY, read_back("zarr2", places), strict=True))
    assert {path: answer["attributes"] for path, answer in answers.items()} == HIERARCHY
    kinds = {path: answer["kind"] for path, answer in answers.items()}
    assert kinds == {"": "group", "a": "group", "a/b": "group", "a/b/c.d": "array"}
    children = [answers[path]["children"] for path in ("", "a", "a/b")]
    assert children == [["a"], ["b"], ["c.d"]]


def test_zarr_python_reads_our_copy_of_all_metadata(tmp_path):
    store = tmp_path / "store"
    make_hierarchy("v2", store)
    zarr_core.consolidate_metadata(store)
    # Only the copy contains it now.
    for document in store.rglob(".z*"):
        if document.name != ".zmetadata":
            document.unlink()
    places = [("consolidated", store, path) for path in HIERARCHY]
    answers = read_back("zarr2", places)
    assert [answer["attributes"] for answer in answers] == list(HIERARCHY.values())
    assert answers[-1]["values"].tolist() == list(range(6))
