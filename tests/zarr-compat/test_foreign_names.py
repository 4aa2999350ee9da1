"""What errors say about names of zarr-python, h5py, xarray and NumPy."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import zarr_compat
import zarr_core as zarr

MISTAKES = json.loads(Path(__file__).with_name("mistakes.json").read_text())
TABLES = json.loads(Path(zarr_compat.__file__).with_name("foreign_names.json").read_text())
OWNERS = {"zarr_core": zarr, "Array": zarr.array([1]), "Group": zarr.create_group()}


@pytest.mark.parametrize(("mistake", "said"), MISTAKES)
def test_wrong_names_say_what_to_use(mistake, said):
    group = zarr.create_group()
    with pytest.raises((TypeError, AttributeError, ImportError)) as caught:
        eval(mistake, {"zarr": zarr, "group": group})
    assert said in str(caught.value)
    assert not list(group)


@pytest.mark.parametrize("owner", OWNERS)
def test_names_of_the_table_are_not_ours_and_have_advice(owner):
    for advice, names in TABLES[owner].items():
        for name in names.split():
            if isinstance(vars(zarr).get(name), ModuleType):  # of the core, imported before
                continue
            with pytest.raises(AttributeError) as caught:
                getattr(OWNERS[owner], name)
            assert str(caught.value).endswith(advice.format(name=name))


def test_nothing_is_looked_up_before_it_is_shown(monkeypatch):
    monkeypatch.setattr("zarr_compat.foreign_names._tables", None)
    assert not hasattr(zarr, "ZipStore")
    assert getattr(zarr.create_group(), "visititems", 1) == 1


def test_similar_arguments_are_named_without_zarr_compat(monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr_compat", None)
    with pytest.raises(TypeError, match="^unexpected keyword argument: shap; did you mean shape"):
        zarr.create_array(shap=3)
