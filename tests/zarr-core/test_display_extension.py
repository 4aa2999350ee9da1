"""Representations of nodes by a display extension, and as text without one."""

import warnings
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import user_warning
from zarr_core.extension import Display, Provider
from zarr_core.registry import discovery


@pytest.fixture(autouse=True)
def no_display(monkeypatch):
    """Without zarr-display, even if it is installed; no warnings have been issued."""
    monkeypatch.setattr(user_warning, "_issued", set())
    with zarr.config.set(disabled_plugins={"zarr-display"}):
        yield


@pytest.fixture
def root():
    root = zarr.create_group(attributes={"title": "a <b>"})
    root.create_array("x", data=np.arange(6).reshape(2, 3), chunks=(1, 3))
    return root


class Short(Display):
    """A minimal display extension."""

    def html(self, shown):
        return f"<i>{type(shown).__name__}</i>"

    def rich(self, shown):
        return f"rich {type(shown).__name__}"


def all_of(root):
    return root, root["x"], root.attrs, root.info, root["x"].info, root.tree()


def in_rich(shown):
    console = pytest.importorskip("rich.console").Console(
        file=StringIO(), color_system=None, width=400
    )
    console.print(shown)
    return console.file.getvalue()


def test_notebooks_show_text_without_a_display(root):
    for shown in all_of(root):
        assert shown._repr_html_() is None
        assert repr(shown)


def test_rich_shows_text_without_a_display(root):
    for shown in (root["x"].info, root.tree()):
        assert in_rich(shown).split() == repr(shown).split()
    hostile = zarr.create_group()
    hostile.create_group("[bold]a")
    assert "[bold]a" in in_rich(hostile.tree())


def test_a_display_that_a_block_gives(root):
    with zarr.override_extensions({"display": {"default": Short}}):
        assert [it._repr_html_() for it in (root.info, root.tree())] == [
            "<i>Info</i>",
            "<i>Tree</i>",
        ]
        assert in_rich(root.info) == "rich Info\n"
    assert root.info._repr_html_() is None


def test_a_node_keeps_the_display_with_which_it_is_opened(root):
    given = zarr.open(root.store, extensions={"display": {"default": Short}})
    assert given._repr_html_() == "<i>StoredGroup</i>"
    assert given["x"]._repr_html_() == "<i>StoredArray</i>"
    assert given.attrs._repr_html_() == "<i>Attributes</i>"


def test_an_object_that_is_not_a_display_is_rejected():
    with pytest.raises(TypeError, match="is not a class derived from Display"):
        zarr.override_extensions({"display": {"default": int}}).__enter__()


class Failing(Short):
    def html(self, shown):
        raise RuntimeError(f"cannot show {type(shown).__name__}")

    rich = html


@pytest.mark.parametrize("use", [lambda info: info._repr_html_(), in_rich], ids=["html", "rich"])
def test_a_display_that_fails_is_reported_once(root, use):
    with zarr.override_extensions({"display": {"default": Failing}}):
        with pytest.warns(UserWarning, match="Failing.*RuntimeError: cannot show Info; text is"):
            first = use(root.info)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert use(root.info) == first
            assert use(root.tree()) in (None, f"{root.tree()}\n")
        assert not caught
    assert first is None or first.split() == repr(root.info).split()


def test_an_interrupt_is_not_a_failure_of_the_display(root):
    class Interrupted(Short):
        def html(self, shown):
            raise KeyboardInterrupt

    with (
        zarr.override_extensions({"display": {"default": Interrupted}}),
        pytest.raises(KeyboardInterrupt),
    ):
        root.info._repr_html_()


def installed(monkeypatch, *providers):
    found = discovery.scan()
    known = {**found.providers, "display": {"default": providers}}
    monkeypatch.setattr(discovery, "scan", lambda: replace(found, providers=known))


def test_a_display_that_cannot_be_imported_is_reported_once(root, monkeypatch):
    installed(monkeypatch, Provider("display", "default", "acme_missing:Show", "acme-display", "1"))
    with zarr.config.set(disabled_plugins=frozenset()):
        with pytest.warns(UserWarning, match=r"acme-display.*acme_missing.*text is shown instead"):
            assert root._repr_html_() is None
        assert root["x"]._repr_html_() is None
        assert repr(root["x"]).startswith("<Array")


def test_two_displays_are_a_conflict_until_one_is_chosen(root, monkeypatch):
    target = f"{__name__}:Short"
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").ModuleType("m"))
    __import__("sys").modules[__name__].Short = Short
    installed(
        monkeypatch,
        Provider("display", "default", target, "acme-display", "1"),
        Provider("display", "default", target, "other-display", "2"),
    )
    warns = pytest.warns(UserWarning, match="acme-display.*other-display")
    with zarr.config.set(disabled_plugins=frozenset()), warns:
        assert root._repr_html_() is None
    chosen = {"display.default": "other-display"}
    with zarr.config.set(disabled_plugins=frozenset(), providers=chosen):
        assert root._repr_html_() == "<i>StoredGroup</i>"


def test_a_chosen_display_that_is_not_installed_is_reported(root):
    with zarr.config.set(providers={"display.default": "acme-display"}):
        with pytest.warns(UserWarning, match="acme-display.*text is shown instead"):
            assert root._repr_html_() is None
        assert root._repr_html_() is None
