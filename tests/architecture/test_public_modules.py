"""The reference lists every public name of every distribution, and the requirements of the kit."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import document_reference  # noqa: E402 - a script, which is not installed
import document_requirements  # noqa: E402 - as above


def is_current(folder, pages):
    return [name for name, text in pages.items() if (folder / name).read_text() != text]


def test_reference_pages_are_current():
    old = is_current(document_reference.REFERENCE, document_reference.pages())
    assert not old, "run python scripts/document_reference.py"


def test_requirement_pages_are_current():
    old = is_current(document_requirements.FOLDER, document_requirements.pages())
    assert not old, "run python scripts/document_requirements.py"


def test_every_class_of_the_kit_has_a_page():
    kit = importlib.import_module("zarr_conformance.kit")
    assert {name for _, name in document_requirements.KINDS.values()} == {*kit.__all__}


def test_every_distribution_has_a_page():
    packages = {path.name for path in (ROOT / "packages").iterdir() if path.is_dir()}
    known = {*document_reference.MODULES, *document_reference.EXTENSIONS}
    # The core has pages of its own; the display is used through the core.
    assert packages == known | {"zarr-core", "zarr-display"}


DISTRIBUTIONS = [*document_reference.MODULES, *document_reference.EXTENSIONS]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_public_names_have_docstrings(distribution):
    for module, names in document_reference.public_names(distribution).items():
        found = importlib.import_module(module)
        missing = [name for name in names if not (getattr(found, name).__doc__ or "").strip()]
        assert not missing, module


@pytest.mark.parametrize("distribution", document_reference.MODULES)
def test_pages_list_all_public_names(distribution):
    package = importlib.import_module(distribution.replace("-", "_"))
    listed = {
        name for names in document_reference.public_names(distribution).values() for name in names
    }
    assert {*getattr(package, "__all__", ())} <= listed
