"""Files of a user below a node are never removed with it, in any format."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_transfer import ConversionError

FORMATS = [2, 3, "draft", "draft-2021", "n5", 1]
VALUES = np.arange(12, dtype="f8").reshape(3, 4)
PATHS = [None, "g/a"]

CHANGES = {
    "create_array": lambda place, path, options: zarr.create_array(
        place, path=path, shape=3, dtype="i2", overwrite=True, **options
    ),
    "create_group": lambda place, path, options: zarr.create_group(
        place, path=path, overwrite=True, **options
    ),
    "open_array": lambda place, path, options: zarr.open_array(
        place, path=path, shape=3, dtype="i2", mode="w", **options
    ),
    "open": lambda place, path, options: zarr.open(
        place, path=path, shape=3, dtype="i2", mode="w", **options
    ),
    "remove": lambda place, path, options: zarr.remove(place, path),
    "copy": lambda place, path, options: zarr.copy(
        zarr.array([1, 2]), place, dest_path=path or "", if_exists="replace"
    ),
    "convert": lambda place, path, options: zarr.convert(
        {"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'},
        place, dest_path=path or "", overwrite=True,
    ),
    "del": lambda place, path, options: zarr.open_group(place, **options).__delitem__(path),
    "clear": lambda place, path, options: zarr.open_group(place, **options)["g"].clear(),
}  # fmt: skip


def contents(place):
    return {str(file): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def hierarchy(place, path, zarr_format):
    """An array in a directory, and the directory of its chunks."""
    options = {} if zarr_format == 3 else {"zarr_format": zarr_format}
    array = zarr.create_array(place, path=path, data=VALUES, chunks=(2, 2), **options)
    prefix = array.stored.format.chunk_prefix(array.path)
    return options, place / prefix if prefix else place


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("name", ["notes.txt", "raw/run 1/0.csv", "c.dat", "0.0.bak"])
def test_files_in_the_directory_of_an_array(tmp_path, zarr_format, path, change, name):
    if zarr_format == 1 and (path or change == "create_group"):
        pytest.skip("version 1 has no groups, and converting to it is not supported")
    if change in ("copy", "convert") and zarr_format != 3:
        pytest.skip("other formats are refused with or without the file")
    if path is None and change in ("del", "clear"):
        pytest.skip("members only")
    options, directory = hierarchy(tmp_path, path, zarr_format)
    file = directory / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text("mine")
    before = contents(tmp_path)
    with pytest.raises((NodeExistsError, ConversionError), match=r"would remove .*not part of a"):
        CHANGES[change](tmp_path, path, options)
    assert contents(tmp_path) == before
    file.unlink()
    if change not in ("copy", "convert"):
        CHANGES[change](tmp_path, path, options)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_chunks_of_an_earlier_shape_belong_to_the_array(tmp_path, zarr_format):
    options, directory = hierarchy(tmp_path, None, zarr_format)
    array = zarr.open(tmp_path, **options)
    array.resize((2, 2), metadata_only=True)
    (directory / ".DS_Store").write_text("a view")
    zarr.create_array(tmp_path, shape=5, dtype="i4", overwrite=True, **options)
    assert zarr.open(tmp_path, mode="r", **options).shape == (5,)


def test_keys_of_the_encoding_of_the_array(tmp_path):
    encoding = {"name": "suffix", "configuration": {"suffix": ".zst", "base_encoding": "default"}}
    array = zarr.create_array(
        tmp_path, data=VALUES, chunks=2, chunk_key_encoding=encoding, compressors="zstd"
    )
    assert (tmp_path / "c" / "0" / "1.zst").exists()
    (tmp_path / "c" / "0" / "1.txt").write_text("mine")
    with pytest.raises(NodeExistsError, match=r"1\.txt"):
        zarr.remove(array)
    (tmp_path / "c" / "0" / "1.txt").unlink()
    zarr.remove(array)
    assert not contents(tmp_path)


def test_arrays_with_unknown_encodings_and_damaged_ones_can_be_removed(tmp_path):
    group = zarr.create_group(tmp_path)
    for name in ("unknown", "damaged"):
        group.create_array(name, data=VALUES, chunks=2)
    document = tmp_path / "unknown" / "zarr.json"
    document.write_text(document.read_text().replace('"default"', '"acme.keys"'))
    (tmp_path / "unknown" / "@0-1").write_text("a chunk")
    (tmp_path / "damaged" / "zarr.json").write_text("{")
    (tmp_path / "damaged" / "notes.txt").write_text("mine")
    del group["unknown"]
    with pytest.raises(NodeExistsError, match=r"damaged/notes\.txt"):
        del group["damaged"]
    (tmp_path / "damaged" / "notes.txt").unlink()
    del group["damaged"]
    assert not list(group)


def test_clear_removes_nothing_if_one_member_cannot_be_removed(tmp_path):
    group = zarr.create_group(tmp_path)
    for name in "abc":
        group.create_array(name, data=VALUES)
    (tmp_path / "c" / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(NodeExistsError, match="notes"):
        group.clear()
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "save",
    [
        lambda place, **options: zarr.save(place, VALUES, **options),
        lambda place, **options: zarr.save(place, VALUES, VALUES, **options),
        lambda place, **options: zarr.save(place, x=VALUES, **options),
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_saving_again_beside_files_is_refused(tmp_path, save, path):
    directory = tmp_path if path is None else tmp_path / path
    directory.mkdir(exist_ok=True, parents=True)
    (directory / "letter.doc").write_text("mine")
    save(tmp_path, path=path)
    before = contents(tmp_path)
    with pytest.raises(NodeExistsError, match=r"letter\.doc.*another path"):
        save(tmp_path, path=path, overwrite=True)
    assert contents(tmp_path) == before
    (directory / "letter.doc").unlink()
    save(tmp_path, path=path, overwrite=True)
    with pytest.raises(NodeExistsError, match="already exists"):
        save(tmp_path, path=path)


@pytest.mark.parametrize("name", ["compressors", "chunks", "order", "mode", "data"])
def test_names_of_arguments_are_not_names_of_arrays(tmp_path, name):
    for arrays in ([VALUES], []):
        with pytest.raises(TypeError, match=rf"{name!r} is an argument of .*create_array"):
            zarr.save(tmp_path / "a", *arrays, **{name: VALUES})
    assert not contents(tmp_path)
