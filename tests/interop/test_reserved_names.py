"""Nodes whose names start with ``__``, as xarray writes them with zarr-python, in both directions."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
import zarr_core as zarr
from click.testing import CliRunner
from xarray_writers import WRITERS, by_zarr_python
from zarr_cli.command_group import cli
from zarr_core.errors import NodeNameError
from zarr_transfer import convert

zarr_python = pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")

UNNAMED = "__xarray_dataarray_variable__"


def part(start=0, stop=4):
    """A data array without a name."""
    return xarray.DataArray(
        np.arange(start, stop) * 1.5, dims="t", coords={"t": np.arange(start, stop)}
    )


@pytest.fixture(params=[3, 2], ids=["v3", "v2"])
def version(request):
    return request.param


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("append", WRITERS)
def test_data_arrays_without_a_name(tmp_path, version, write, append):
    path = tmp_path / "a.zarr"
    write(part(), path, zarr_format=version)
    append(part(4, 6), path, append_dim="t", mode="a")
    for engine in ("zarr", "zarr_core"):
        for consolidated in (True, False):
            with xarray.open_dataarray(path, engine=engine, consolidated=consolidated) as found:
                xarray.testing.assert_identical(found.load(), part(0, 6))
    for library in (zarr, zarr_python):
        assert sorted(library.open_group(path, mode="r")) == [UNNAMED, "t"]


@pytest.fixture
def written(tmp_path, version):
    """Nodes with such names at two levels, written by zarr-python."""
    path = tmp_path / "a.zarr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_zarr_python(part(), path, zarr_format=version)
        root = zarr_python.open_group(path, mode="r+")
        group = root.create_group("__grp")
        group.create_array("__x", data=np.arange(6), chunks=(2,))
        group.attrs["a"] = 1
        zarr_python.consolidate_metadata(path, zarr_format=version)
    return path


NAMES = ["__grp", "__grp/__x", UNNAMED, "t"]


def names(place):
    """The members that both libraries list."""
    ours = [name for name, _ in zarr.open_group(place).members(None)]
    theirs = sorted(name for name, _ in zarr_python.open_group(place, mode="r").members(None))
    assert ours == theirs
    return ours


def test_every_route(written, version, tmp_path):
    assert names(written) == NAMES
    group = zarr.open_consolidated(written)
    assert sorted(group) == ["__grp", UNNAMED, "t"]
    assert group["__grp/__x"][...].tolist() == [*range(6)]
    copies = {
        "copied": lambda place: zarr.copy(zarr.open(written), place),
        "laid_out": lambda place: zarr.copy(zarr.open(written), place, compressors=None),
        "all": lambda place: zarr.copy_all(zarr.open(written), place),
        "keys": lambda place: zarr.copy_store(written, place),
        "converted": lambda place: convert(written, place, zarr_format=5 - version),
        "back": lambda place: convert(tmp_path / "converted", place, zarr_format=version),
        "moved": lambda place: zarr.move(zarr.open(tmp_path / "copied", "r+"), place),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, copy in copies.items():
            copy(tmp_path / name)
            assert names(tmp_path / name) == NAMES
            values = zarr.open_array(tmp_path / name, path=UNNAMED)[...]
            assert values.tolist() == [0, 1.5, 3, 4.5]
    zarr.consolidate_metadata(tmp_path / "all")
    assert sorted(zarr_python.open_consolidated(tmp_path / "all")) == ["__grp", UNNAMED, "t"]
    assert str(zarr.check_consolidated(zarr.open_group(tmp_path / "all"))) == "up to date"
    group = zarr.open_group(tmp_path / "all", "r+")
    group["__grp/__x"].resize(8)
    group["__grp"].attrs["b"] = 2
    del group[UNNAMED]
    assert names(tmp_path / "all") == ["__grp", "__grp/__x", "t"]
    theirs = zarr_python.open_consolidated(tmp_path / "all")
    assert theirs["__grp/__x"].shape == (8,)


def test_conversions_to_a_new_name(written, version):
    store = zarr.MemoryStore()
    for name in ("__new", "a/__new", "__new/a"):
        with pytest.raises(NodeNameError, match="reserved"):
            convert(written, store, dest_path=name, source_path="t", zarr_format=3)
        assert not [*store.list()]
    assert convert(written, store, source_path="__grp", dest_path="__grp", zarr_format=3)
    with zarr.config.set(reserved_names="warn"), pytest.warns(UserWarning, match="'/__new'"):
        convert(written, store, source_path="t", dest_path="__new", zarr_format=3)
    convert(written, store, source_path="t", dest_path="__new", zarr_format=3, overwrite=True)
    assert [*zarr.open(store)] == ["__grp", "__new"]


def run(*arguments, code=0, **environment):
    given = [str(argument) for argument in arguments]
    found = CliRunner().invoke(cli, given, env=environment)
    assert found.exit_code == code, found.output
    return found.output


def test_the_command_line(written, version, tmp_path):
    other = tmp_path / "b.zarr"
    assert UNNAMED in run("tree", written)
    assert UNNAMED in run("ls", written)
    assert "__x" in run("ls", f"{written}#__grp")
    assert "6" in run("info", f"{written}#__grp/__x")
    assert run("check", written)
    run("copy", written, other)
    assert names(other) == NAMES
    run("diff", written, other)
    run("move", f"{other}#__grp/__x", f"{other}#x")
    run("remove", "-y", f"{other}#{UNNAMED}")
    run("consolidate", other)
    assert names(other) == ["__grp", "t", "x"]
    run("convert", written, tmp_path / "c.zarr", "--zarr-format", 5 - version)
    assert names(tmp_path / "c.zarr") == NAMES
    if version == 3:
        assert "reserved" in run("create", f"{other}#__y", "--shape", 3, code=1)
        assert names(other) == ["__grp", "t", "x"]


def test_zarr_compat_creates_what_zarr_python_creates(tmp_path, version):
    from zarr_compat import api

    def write(library, path):
        group = library.open_group(path, mode="w", zarr_format=version)
        group.create_array("__a", shape=(3,), dtype="i4")
        group.require_group("__g/__h")
        group["__g"].create_array("__b", data=np.arange(3))
        library.create_array(group.store, name="__c", shape=(2,), dtype="f8", zarr_format=version)
        return sorted(name for name, _ in group.members(None))

    theirs = write(zarr_python, tmp_path / "theirs")
    expected = pytest.warns(UserWarning, match="reserves") if version == 3 else nullcontext()
    with expected:
        assert write(api, tmp_path / "ours") == theirs
    assert names(tmp_path / "ours") == names(tmp_path / "theirs") == theirs
