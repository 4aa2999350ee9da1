"""Displays: nodes as HTML, tables and trees."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.registry.discovery import providers
from zarr_core.registry.resolve import find_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Display

# In lower case: hooks may have rules for names.
_HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(1)'>\"&\x1b[2j\u202e\ud800"
_SHORTEST = 3  # letters of a document of HTML


class _Unreachable(zarr.MemoryStore):
    """A store that raises for all operations if it is switched off."""

    is_closed = False

    def _refuse(self) -> None:
        if self.is_closed:
            raise AssertionError("the store was used to show an array")

    def get(self, key: str, *arguments: Any) -> Any:
        self._refuse()
        return super().get(key, *arguments)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self._refuse()
        return super().list_prefix(prefix)

    def list_dir(self, prefix: str) -> Any:
        self._refuse()
        return super().list_dir(prefix)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


class DisplayTests:
    """Inherit from this to test a display.

    Examples
    --------
    >>> class TestBrief(DisplayTests):
    ...     distribution = "acme-brief"
    """

    distribution: ClassVar[str] = ""
    """The distribution whose entry point ``default`` names the class."""

    extension: ClassVar[type[Display] | None] = None
    """The class, if it is not installed; None to find it by its distribution."""

    @pytest.fixture(autouse=True)
    def _chosen(self) -> Iterator[None]:
        if self.extension is not None:
            with zarr.override_extensions({"display": {"default": self.extension}}):
                yield
        else:
            with zarr.config.set(providers={"display.default": self.distribution}):
                yield

    @pytest.fixture
    def display(self) -> Display:
        """The display."""
        display: Display = find_class("display", "default")()
        return display

    @pytest.fixture
    def root(self) -> zarr.Group:
        """A group with attributes and arrays."""
        root = zarr.create_group(attributes={"title": "a & b", "deep": {"list": [1, None, "x"]}})
        root.create_array("a", data=np.arange(12).reshape(3, 4), chunks=(2, 3))
        root.create_array("b/c", shape=(), dtype="int8")
        root.create_array("empty", shape=(0, 5), dimension_names=["y", None])
        return root

    def test_is_installed(self) -> None:
        """The entry point exists, and its class loads."""
        if self.extension is None:
            offered = [
                provider
                for provider in providers("display", "default")
                if provider.distribution == self.distribution
            ]
            assert offered, (
                f'{self.distribution} has no entry point "default" in the group zarr_core.display; '
                "install the distribution (again, if its entry points have changed)"
            )
            offered[0].load()

    def test_html_of_all_objects(self, display: Display, root: zarr.Group) -> None:
        """Arrays, groups and attributes have HTML."""
        for _, passed in _all_of(root):
            html = display.html(passed)
            assert isinstance(html, str)
            assert len(html) > _SHORTEST

    def test_array_display_does_not_read_store(self, display: Display) -> None:
        """Displaying an array makes no request."""
        store = _Unreachable()
        array = zarr.create_array(store, shape=(4, 4), chunks=2, attributes={"a": 1})
        store.is_closed = True
        display.html(array.stored)
        display.html(array.attrs)
        display.info(array.stored)

    def test_names_and_values_are_escaped(self, display: Display) -> None:
        """Names and values are escaped."""
        root = zarr.create_group(attributes={_HOSTILE: "value", "name": _HOSTILE})
        root.create_array("<script>a<", shape=2, dimension_names=[_HOSTILE], dtype="int8")
        texts = [display.html(passed) or "" for _, passed in _all_of(root, "<script>a<")]
        tables = (display.info(root.stored), display.tree(root.stored))
        texts += [table._repr_html_() for table in tables if hasattr(table, "_repr_html_")]
        for html in texts:
            elements = _Elements()
            elements.feed(html)
            assert not elements.found & {"script", "img"}, f"an element of a name: {html}"
            assert "onerror" not in elements.attributes
            controls = {item for item in html if unicodedata.category(item) in ("Cc", "Cf", "Cs")}
            assert not controls - {"\n", "\t", "\u200c", "\u200d"}, f"{controls}: {html}"

    def test_info_and_tree(self, display: Display, root: zarr.Group) -> None:
        """Tables map names to texts; trees name the members."""
        for complete in (False, True):
            rows = [display.info(node.stored, complete).items() for node in (root, root["a"])]
            assert all(rows), "a table is empty"
            assert all(isinstance(text, str) for row in [*rows[0], *rows[1]] for text in row)
        assert "empty" in repr(display.tree(root.stored))
        assert "c" not in repr(display.tree(root.stored, 1)), "the tree has more levels"

    def test_core_uses_display(self, display: Display, root: zarr.Group) -> None:
        """Notebooks show the result of the display."""
        for shown, passed in _all_of(root):
            assert shown._repr_html_() == display.html(passed)
        assert dict(root["a"].info) == dict(display.info(root["a"].stored))
        assert repr(root.tree()) == repr(display.tree(root.stored))


def _all_of(root: zarr.Group, name: str = "a") -> list[tuple[Any, Any]]:
    """Objects with HTML, each with what the core passes to a display."""
    nodes = (root, root[name])
    return [(node, node.stored) for node in nodes] + [(node.attrs, node.attrs) for node in nodes]
